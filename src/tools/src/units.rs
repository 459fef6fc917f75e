//! Numbers in arguments, with and without units.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Seconds of a day: the maximum of most arguments that are a time.
pub const DAY: f64 = 86_400.0;

/// Creates a parser for seconds, which may have a fraction.
pub fn seconds(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse::<f64>() {
        Ok(seconds) => within(&range, Some(seconds)),
        Err(_) => Err(refused(text, "a number of seconds")),
    }
}

/// Creates a parser for a whole number without a unit. The error for other text says that it is not `what`.
pub fn whole<T: TryFrom<i128>>(
    range: RangeInclusive<i128>,
    what: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<i128>().map_err(|_| refused(text, what))?;
        within(&range, Some(number))
    }
}

/// Creates a parser for bytes, in which K, M and G are powers of 1024.
pub fn bytes<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    with_unit(range, 1024)
}

/// Creates a parser for a count, in which K, M and G are powers of 1000.
pub fn count<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> impl Fn(&str) -> Result<T, String> + Clone {
    with_unit(range, 1000)
}

fn with_unit<T: TryFrom<u64>>(range: RangeInclusive<u64>, step: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
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
        let (power, number) = number.ok_or_else(|| refused(text, "a number, optionally with K, M or G"))?;
        within(&range, number.checked_mul(step.pow(power)))
    }
}

fn refused(text: &str, what: &str) -> String {
    format!("{} is not {what}", if text.is_empty() { "an empty value" } else { text })
}

/// Returns the number if `range` contains it, otherwise an error. `None`, for an overflow, is in no range.
fn within<N: Display + PartialOrd, T: TryFrom<N>>(range: &RangeInclusive<N>, number: Option<N>) -> Result<T, String> {
    let inside = number.filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok());
    inside.ok_or_else(|| format!("must be between {} and {}", range.start(), range.end()))
}

#[cfg(test)]
mod tests;
