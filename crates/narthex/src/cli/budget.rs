//! Reads what an agent may use up: `window=1h,t2=5,bytes=10MB,time=5m,cost=2.5`.

use narthex_core::{Budget, Cost};
use narthex_server::owner::{BudgetChange, BudgetSpec, Limit};

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
    spec.over(Budget::default()).check().map_err(|wrong| wrong.to_string())?;
    Ok(BudgetChange::Own(spec))
}

fn set(spec: &mut BudgetSpec, key: &str, value: &str) -> Result<(), String> {
    let limit = |read: fn(&str) -> Result<u64, String>| match value {
        "none" => Ok(Some(Limit::Unlimited)),
        value => read(value).map(|most| Some(Limit::Most(most))),
    };
    let [t0, t1, t2, t3] = &mut spec.calls;
    match key {
        "window" => spec.window_seconds = Some(u32::try_from(seconds(value)?).unwrap_or(u32::MAX)),
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

fn count(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let read = digits.then(|| text.parse().ok()).flatten();
    read.ok_or_else(|| "write a whole number, or none".to_owned())
}

/// Bytes, with a unit or without.
fn bytes(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, each)| text.strip_suffix(unit).map(|n| (n, *each)));
    let (number, each) = unit.unwrap_or((text, 1));
    let read = count(number).ok().and_then(|n| n.checked_mul(each));
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
    use crate::config::Config;
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

    /// On the command line and in the settings, in their own words.
    #[test]
    fn the_bounds_are_the_same_wherever_a_budget_is_written_down() {
        for (typed, key, fits) in [
            ("window=1s", "window_seconds = 1", true),
            ("window=0s", "window_seconds = 0", false),
            ("window=31d", "window_seconds = 2678400", true),
            ("window=2678401s", "window_seconds = 2678401", false),
            ("t0=0", "t0 = 0", true),
            ("t0=1000000000", "t0 = 1000000000", true),
            ("t0=1000000001", "t0 = 1000000001", false),
            ("t1=0", "t1 = 0", true),
            ("t1=1000000000", "t1 = 1000000000", true),
            ("t1=1000000001", "t1 = 1000000001", false),
            ("t2=1000000001", "t2 = 1000000001", false),
            ("t3=1000000001", "t3 = 1000000001", false),
            ("t3=-1", "t3 = -1", false),
            ("bytes=0", "bytes = 0", false),
            ("bytes=1", "bytes = 1", true),
            ("bytes=1000000GB", "bytes = 1000000000000000", true),
            ("bytes=1000000000000001", "bytes = 1000000000000001", false),
            ("bytes=18446744073709551615", "bytes = 18446744073709551615", false),
            ("time=0s", "time_seconds = 0", false),
            ("time=1s", "time_seconds = 1", true),
            ("time=31d", "time_seconds = 2678400", true),
            ("time=2678401s", "time_seconds = 2678401", false),
            ("cost=0", "cost = 0", true),
            ("cost=1000000000", "cost = 1000000000.0", true),
            ("cost=1000000000.1", "cost = 1000000000.1", false),
            ("cost=-1", "cost = -1.0", false),
            ("cost=nan", "cost = nan", false),
            ("cost=inf", "cost = inf", false),
        ] {
            let settings = Config::parse("x", &format!("[budget]\n{key}\n"));
            assert_eq!(budget(typed).is_ok(), fits, "{typed}: {:?}", budget(typed));
            assert_eq!(settings.is_ok(), fits, "{key}");
            let (Ok(settings), Ok(BudgetChange::Own(spec))) = (settings, budget(typed)) else {
                continue;
            };
            let house = settings.gate().budget;
            assert_eq!(spec.over(house), house, "{typed} says the same as {key}");
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
