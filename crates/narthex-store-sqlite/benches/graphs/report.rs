//! What was measured.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

/// What was measured, in the order it was.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) lines: Vec<Line>,
    /// By rows, the most memory that our load alone took the process to, in KiB.
    pub(crate) load_peaks: Vec<(u64, u64)>,
    /// And all of ours: what plain SQL takes while it is asked is not counted.
    pub(crate) peaks: Vec<(u64, u64)>,
}

/// One kind of work at one size: medians.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) what: String,
    pub(crate) rows: u64,
    pub(crate) ours: Duration,
    pub(crate) plain: Duration,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.ours.as_secs_f64() / self.plain.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Report {
    pub(crate) fn to_table(&self) -> String {
        let mut table =
            format!("{:<28}{:>10}{:>10}{:>12}{:>12}\n", "", "rows", "of SQL", "ours ms", "SQL ms");
        for line in &self.lines {
            let (ours, plain) = (millis(line.ours), millis(line.plain));
            let _ = writeln!(
                table,
                "{:<28}{:>10}{:>9.2}x{ours:>12.3}{plain:>12.3}",
                line.what,
                line.rows,
                line.ratio()
            );
        }
        for (what, peaks) in [("our load", &self.load_peaks), ("all of it", &self.peaks)] {
            for (rows, kib) in peaks {
                let _ = writeln!(table, "peak memory of {what}, {rows} rows: {} MB", kib / 1024);
            }
        }
        table
    }

    pub(crate) fn to_json(&self) -> String {
        let line = |line: &Line| {
            json!({
                "what": line.what.trim(),
                "rows": line.rows,
                "ratio": line.ratio(),
                "ours_ms": millis(line.ours),
                "sql_ms": millis(line.plain),
            })
        };
        let peak = |(rows, kib): &(u64, u64)| json!({"rows": rows, "kib": kib});
        json!({
            "lines": self.lines.iter().map(line).collect::<Vec<_>>(),
            "load_peaks": self.load_peaks.iter().map(peak).collect::<Vec<_>>(),
            "peaks": self.peaks.iter().map(peak).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The most memory the process had since it was told to forget, in KiB; 0 where nobody says.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Lets the peak begin anew, where the system can.
pub(crate) fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
