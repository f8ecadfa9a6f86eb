//! Instants as people write them: ISO 8601 with an offset.

const MS_PER_DAY: i64 = 86_400_000;
/// Days from 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;
/// Days of 400 years.
const DAYS_PER_ERA: i64 = 146_097;
/// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what SQLite can express.
const RANGE: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// Reads an instant such as `2026-06-01T09:00:00Z` or `2026-06-01T11:00:00.123+02:00` as milliseconds
/// since 1970; finer digits are cut off.
///
/// # Errors
///
/// A sentence for the author. A time without an offset is refused: it would mean another instant on
/// another machine.
pub fn parse_instant(text: &str) -> Result<i64, String> {
    let mut reader = Reader(text.as_bytes());
    let local = reader.local_time().ok_or_else(|| shape(text))?;
    let offset = match reader.offset() {
        Offset::Minutes(minutes) => minutes,
        Offset::Missing => {
            return Err(format!(
                "`{text}` has no UTC offset. Write `{text}Z` for UTC, or end with one like `+02:00`"
            ));
        }
        Offset::Malformed => return Err(shape(text)),
    };
    let local = local.ok_or_else(|| format!("`{text}` is no date and time of the calendar"))?;
    let instant = local - offset * 60_000;
    if RANGE.contains(&instant) {
        Ok(instant)
    } else {
        Err(format!("`{text}` is outside the years 0000 to 9999"))
    }
}

/// The canonical text of an instant, `2026-06-01T09:00:00.000Z`.
///
/// An instant outside the years 0000 to 9999 is shown as the nearest one inside.
#[must_use]
pub fn format_instant(unix_millis: i64) -> String {
    let instant = unix_millis.clamp(*RANGE.start(), *RANGE.end());
    let (days, ms) = (instant.div_euclid(MS_PER_DAY), instant.rem_euclid(MS_PER_DAY));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

fn shape(text: &str) -> String {
    format!("`{text}` is no instant. Write one like `2026-06-01T09:00:00Z`")
}

enum Offset {
    Minutes(i64),
    Missing,
    Malformed,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// The local time in milliseconds. Outer `None`: another shape; inner `None`: no such day or time.
    fn local_time(&mut self) -> Option<Option<i64>> {
        let year = self.number(4)?;
        let month = self.after(b"-")?.number(2)?;
        let day = self.after(b"-")?.number(2)?;
        let hour = self.after(b"Tt ")?.number(2)?;
        let minute = self.after(b":")?.number(2)?;
        let (mut second, mut ms) = (0, 0);
        if self.0.first() == Some(&b':') {
            second = self.after(b":")?.number(2)?;
            if self.0.first() == Some(&b'.') {
                ms = self.after(b".")?.fraction()?;
            }
        }
        let valid = (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            && second < 60;
        let days = days_from_civil(year, month, day);
        Some(valid.then(|| days * MS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1000 + ms))
    }

    fn offset(&mut self) -> Offset {
        let sign = match self.0 {
            [] => return Offset::Missing,
            [b'Z' | b'z'] => return Offset::Minutes(0),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Offset::Malformed,
        };
        match self.hours_and_minutes() {
            Some((hours @ 0..24, minutes @ 0..60)) if self.0.is_empty() => {
                Offset::Minutes(sign * (hours * 60 + minutes))
            }
            _ => Offset::Malformed,
        }
    }

    fn hours_and_minutes(&mut self) -> Option<(i64, i64)> {
        let hours = self.after(b"+-")?.number(2)?;
        Some((hours, self.after(b":")?.number(2)?))
    }

    /// Steps over one of `expected`.
    fn after(&mut self, expected: &[u8]) -> Option<&mut Self> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        expected.contains(first).then_some(self)
    }

    /// Exactly so many digits.
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        self.0 = rest;
        number.iter().try_fold(0, |value, byte| Some(value * 10 + digit(*byte)?))
    }

    /// One digit or more, of which three count.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        let padded = digits.iter().copied().chain([b'0'; 2]).take(3);
        if digits.is_empty() { None } else { padded.into_iter().try_fold(0, |v, b| Some(v * 10 + digit(b)?)) }
    }
}

fn digit(byte: u8) -> Option<i64> {
    byte.is_ascii_digit().then(|| i64::from(byte - b'0'))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 of a day of the proleptic Gregorian calendar. Years begin in March here, so that the
/// leap day comes last and a month's start is a linear formula.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * DAYS_PER_ERA + year * 365 + year / 4 - year / 100 + day_of_year - DAYS_TO_EPOCH
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_EPOCH;
    let (era, day) = (days.div_euclid(DAYS_PER_ERA), days.rem_euclid(DAYS_PER_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year + era * 400 + i64::from(month >= 10);
    (year, (month + 2) % 12 + 1, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_read_to_the_millisecond() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-06-01T09:00:00Z", 1_780_304_400_000),
            ("2026-06-01T09:00:00.123Z", 1_780_304_400_123),
            ("2026-06-01T09:00:00.1239999Z", 1_780_304_400_123),
            ("2026-06-01T09:00:00.5z", 1_780_304_400_500),
            ("2026-06-01 11:00+02:00", 1_780_304_400_000),
            ("2026-06-01t03:30:00-05:30", 1_780_304_400_000),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("0000-01-01T00:00:00Z", *RANGE.start()),
            ("9999-12-31T23:59:59.999Z", *RANGE.end()),
        ] {
            assert_eq!(parse_instant(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_naive_time_is_refused_with_the_way_out() {
        assert_eq!(
            parse_instant("2026-06-01T09:00:00").unwrap_err(),
            "`2026-06-01T09:00:00` has no UTC offset. Write `2026-06-01T09:00:00Z` for UTC, or end with one like `+02:00`"
        );
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for text in [
            "",
            "now",
            "2026-06-01",
            "2026-06-01T09Z",
            "2026-6-1T09:00:00Z",
            "2026-06-01T09:00:00.Z",
            "2026-06-01T09:00:00ZZ",
            "2026-06-01T09:00:00 Z",
            "2026-06-01T09:00:00+0200",
            "2026-06-01T09:00:00+24:00",
            "2026-06-01T09:00:00+02:60",
            "+026-06-01T09:00:00Z",
            "2026-06-01T09:00:00é",
            "20é6-06-01T09:00:00Z",
        ] {
            let error = parse_instant(text).unwrap_err();
            assert!(error.contains("is no instant"), "{text}: {error}");
        }
        for text in
            ["2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z"]
        {
            assert!(parse_instant(text).unwrap_err().contains("of the calendar"), "{text}");
        }
        for text in ["2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-12-31T23:59:60Z"] {
            assert!(parse_instant(text).unwrap_err().contains("of the calendar"), "{text}");
        }
        for text in ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"] {
            assert!(parse_instant(text).unwrap_err().contains("outside the years"), "{text}");
        }
    }

    #[test]
    fn every_day_of_the_range_survives_the_round_trip() {
        let mut expected = *RANGE.start();
        for year in 0..=9999 {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    assert_eq!(days_from_civil(year, month, day) * MS_PER_DAY, expected);
                    assert_eq!(civil_from_days(expected / MS_PER_DAY), (year, month, day));
                    expected += MS_PER_DAY;
                }
            }
        }
        assert_eq!(expected - 1, *RANGE.end());
    }

    #[test]
    fn the_canonical_text_has_milliseconds_and_z() {
        assert_eq!(format_instant(1_780_304_400_123), "2026-06-01T09:00:00.123Z");
        assert_eq!(format_instant(-1), "1969-12-31T23:59:59.999Z");
        assert_eq!(format_instant(i64::MAX), "9999-12-31T23:59:59.999Z");
        assert_eq!(format_instant(i64::MIN), "0000-01-01T00:00:00.000Z");
    }
}
