//! Numbers of arguments: those with a unit behind them, `64K` or `20M`, and those that must have none.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest time that arguments take in seconds, unless they have a limit of their own: a day.
pub const DAY: f64 = 86_400.0;

/// A parser for seconds, also parts of one.
pub fn seconds(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse::<f64>() {
        Ok(seconds) if range.contains(&seconds) => Ok(seconds),
        Ok(_) => Err(outside(range.start(), range.end())),
        Err(_) => Err(refused(text, "a number of seconds")),
    }
}

/// A parser for a whole number without a unit.
///
/// # Parameters
/// * `what` - what it is, such as `a whole number of seconds`.
pub fn whole<T: TryFrom<i128>>(
    range: RangeInclusive<i128>,
    what: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<i128>().map_err(|_| refused(text, what))?;
        let inside = Some(number).filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
        inside.ok_or_else(|| outside(range.start(), range.end()))
    }
}

/// A parser for a number of bytes within a range: K, M and G are 1024 times the one before.
pub fn bytes(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone {
    within(range, 1024)
}

/// A parser for how many there are of something: K, M and G are 1000 times the one before.
pub fn count(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<u64, String> + Clone {
    within(range, 1000)
}

/// As [`count`], for what fits into less.
pub fn count32(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone {
    let parse = count(u64::from(*range.start())..=u64::from(*range.end()));
    move |text| parse(text).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn within(range: RangeInclusive<u64>, step: u64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| {
        let digits = text.trim_end_matches(|last: char| !last.is_ascii_digit());
        let power = match text[digits.len()..].to_ascii_uppercase().as_str() {
            "" => Some(0),
            "K" => Some(1),
            "M" => Some(2),
            "G" => Some(3),
            _ => None,
        };
        let number = power.zip(digits.parse::<u64>().ok()).filter(|_| !text.starts_with('+'));
        let (power, number) = number.ok_or_else(|| refused(text, "a number, which may have K, M or G behind it"))?;
        match number.checked_mul(step.pow(power)) {
            Some(number) if range.contains(&number) => Ok(number),
            _ => Err(outside(range.start(), range.end())),
        }
    }
}

fn refused(text: &str, what: &str) -> String {
    format!("{} is not {what}", if text.is_empty() { "an empty text" } else { text })
}

fn outside(least: impl Display, most: impl Display) -> String {
    format!("it is between {least} and {most}")
}

#[cfg(test)]
mod tests;
