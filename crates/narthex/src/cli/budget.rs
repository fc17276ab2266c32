//! Reads what an agent may use up: `window=1h,t2=5,bytes=10MB,time=5m,cost=2.5`.

use narthex_core::Cost;
use narthex_server::owner::{BudgetChange, BudgetSpec, LONGEST_WINDOW_SECONDS, Limit};

use super::parse::seconds;

/// Reads a budget, or `default` for the house's own.
pub(super) fn budget(text: &str) -> Result<BudgetChange, String> {
    if text == "default" {
        return Ok(BudgetChange::House);
    }
    let mut spec = BudgetSpec::default();
    let mut seen = Vec::new();
    for part in text.split(',') {
        let (key, value) = part.split_once('=').ok_or_else(|| HOW.to_owned())?;
        if seen.contains(&key) {
            return Err(format!("{key} is there twice"));
        }
        seen.push(key);
        set(&mut spec, key, value).map_err(|wrong| format!("{key}: {wrong}"))?;
    }
    Ok(BudgetChange::Own(spec))
}

fn set(spec: &mut BudgetSpec, key: &str, value: &str) -> Result<(), String> {
    let limit = |read: fn(&str) -> Result<u64, String>| match value {
        "none" => Ok(Some(Limit::Unlimited)),
        value => read(value).map(|most| Some(Limit::Most(most))),
    };
    let [t0, t1, t2, t3] = &mut spec.calls;
    match key {
        "window" => spec.window_seconds = Some(window(value)?),
        "t0" => *t0 = limit(count)?,
        "t1" => *t1 = limit(count)?,
        "t2" => *t2 = limit(count)?,
        "t3" => *t3 = limit(count)?,
        "bytes" => spec.bytes = limit(bytes)?,
        "time" => spec.millis = limit(|text| seconds(text).map(|s| s.saturating_mul(1_000)))?,
        "cost" => spec.cost = limit(cost)?,
        _ => return Err("not a part of a budget; ".to_owned() + HOW),
    }
    Ok(())
}

fn window(text: &str) -> Result<u32, String> {
    let read = u32::try_from(seconds(text)?).ok().filter(|all| *all <= LONGEST_WINDOW_SECONDS);
    read.ok_or_else(|| "at most 31d".to_owned())
}

fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = digits.then(|| text.parse().ok()).flatten().filter(|n| *n <= MOST);
    read.ok_or_else(|| format!("write a whole number up to {MOST}, or none"))
}

/// Bytes, with a unit or without.
fn bytes(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, each)| text.strip_suffix(unit).map(|n| (n, *each)));
    let (number, each) = unit.unwrap_or((text, 1));
    let read = count(number).ok().and_then(|n| n.checked_mul(each)).filter(|n| *n <= MOST);
    read.ok_or_else(|| "write a number of bytes: 4096, 512KB, 10MB, 1GiB, or none".to_owned())
}

fn cost(text: &str) -> Result<u64, String> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let read = if plain { text.parse().ok() } else { None };
    let read = read.and_then(|figure| Cost::from_figure(figure).ok());
    read.map(Cost::millionths).ok_or_else(|| "write a figure: 2.5, or none".to_owned())
}

const HOW: &str =
    "write default, or parts of window=1h,t0=…,t1=…,t2=…,t3=…,bytes=10MB,time=5m,cost=2.5";
const MOST: u64 = 1_000_000_000_000_000;
/// The longer ones first: every one of them ends in `B`.
const UNITS: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

#[cfg(test)]
mod tests {
    use super::budget;
    use narthex_server::owner::{BudgetChange, BudgetSpec, Limit};

    #[test]
    fn budgets_are_read_part_by_part() {
        let whole = "window=1h,t0=none,t1=2,t2=0,t3=4,bytes=10MB,time=5m,cost=2.5";
        let Ok(BudgetChange::Own(spec)) = budget(whole) else { panic!("a budget") };
        let most = |n| Some(Limit::Most(n));
        assert_eq!(
            spec,
            BudgetSpec {
                window_seconds: Some(3_600),
                calls: [Some(Limit::Unlimited), most(2), most(0), most(4)],
                bytes: most(10_000_000),
                millis: most(300_000),
                cost: most(2_500_000),
            }
        );
        assert_eq!(budget("default"), Ok(BudgetChange::House));
        let sizes = [("1", 1), ("2B", 2), ("1KB", 1_000), ("1KiB", 1_024), ("1GiB", 1 << 30)];
        for (text, n) in sizes {
            let expected = BudgetSpec { bytes: most(n), ..BudgetSpec::default() };
            assert_eq!(budget(&format!("bytes={text}")), Ok(BudgetChange::Own(expected)));
        }
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        for text in [
            "",
            "x",
            "t1",
            "t1=",
            "t1=-1",
            "t1=1.5",
            "t1=1e3",
            "t4=1",
            "t1=1,t1=2",
            "T1=1",
            "bytes=MB",
            "bytes=1TB",
            "bytes=-1",
            "bytes=99999999999999999999",
            "time=5",
            "time=-5m",
            "window=0s",
            "window=32d",
            "window=none",
            "cost=NaN",
            "cost=-1",
            "cost=inf",
            "cost=1e308",
            "cost=",
            "cost=99999999999999",
            "t1=1,",
            "default,t1=1",
        ] {
            assert!(budget(text).is_err(), "{text:?}");
        }
    }
}
