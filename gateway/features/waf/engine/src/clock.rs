//! Date and time in UTC, as the variables `TIME…` have them.

pub struct Moment {
    pub year: u64,
    /// From 1.
    pub month: u64,
    /// From 1.
    pub day: u64,
    /// From 0 for Sunday.
    pub weekday: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
}

impl Moment {
    /// `seconds` since 1970.
    pub fn at(seconds: u64) -> Moment {
        let (days, rest) = (seconds / 86_400, seconds % 86_400);
        // Years that begin in March, in eras of 400 of them, since the year 0.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: 400 * era + year_of_era + u64::from(month <= 2),
            month,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            weekday: (days + 4) % 7,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_seconds_since_1970() {
        let leap = Moment::at(951_782_400 + 3_661);
        assert_eq!((leap.year, leap.month, leap.day, leap.weekday), (2000, 2, 29, 2));
        assert_eq!((leap.hour, leap.minute, leap.second), (1, 1, 1));
        let first = Moment::at(0);
        assert_eq!((first.year, first.month, first.day, first.weekday), (1970, 1, 1, 4));
    }
}
