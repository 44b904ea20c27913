//! How long an array of SSDs lasts at the wear of the measured window.

use serde::Serialize;

use super::lifetime::Lifetime;
use flashwatt_devices::raid::settings::Level;

/// The life of an array, from new members, if the measured window repeats without a pause and no member is replaced. A member counts
/// as worn out when its mean block has its rated cycles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayLifetime {
    /// The first member to wear out; none if no member wears.
    pub first_member: Option<u32>,
    /// Years until that.
    pub first_years: Option<f64>,
    /// Years until enough members are worn out that data is lost under this level.
    pub data_loss_years: Option<f64>,
    /// Years of each member; none for one that does not wear, or has failed.
    pub member_years: Vec<Option<f64>>,
    /// Why a figure is missing; none if none is.
    pub reason: Option<String>,
}

impl ArrayLifetime {
    /// Of these members; none for one that has failed and has no spare.
    pub(super) fn new(level: Level, members: &[Option<Lifetime>]) -> Self {
        let years = |member: &Option<Lifetime>| member.as_ref()?.mean_wear.as_ref().map(|wear| wear.years);
        let member_years: Vec<Option<f64>> = members.iter().map(years).collect();
        if let Some(at) = members.iter().position(|member| member.as_ref().is_some_and(|of| of.rated_cycles.is_none()))
        {
            let reason = format!("device.nand.rated_cycles of member_{at} is not known");
            let (first_member, first_years, data_loss_years) = (None, None, None);
            return ArrayLifetime { first_member, first_years, data_loss_years, member_years, reason: Some(reason) };
        }
        let known = |(at, years): (usize, &Option<f64>)| years.map(|years| (at, years));
        let first = member_years.iter().enumerate().filter_map(known).min_by(|one, other| one.1.total_cmp(&other.1));
        // A failed member is gone from the start; one of which nothing wears stays for ever.
        let ends: Vec<f64> = members
            .iter()
            .zip(&member_years)
            .map(|(member, years)| if member.is_none() { 0.0 } else { years.unwrap_or(f64::INFINITY) })
            .collect();
        ArrayLifetime {
            first_member: first.map(|(at, _)| at as u32),
            first_years: first.map(|(_, years)| years),
            data_loss_years: Some(data_loss(level, &ends)).filter(|years| years.is_finite()),
            member_years,
            reason: first.is_none().then(|| "no member programs a page or erases a block: nothing wears".to_string()),
        }
    }
}

/// The time at which data is lost, by the times at which the members end.
fn data_loss(level: Level, ends: &[f64]) -> f64 {
    let mut sorted = ends.to_vec();
    sorted.sort_by(f64::total_cmp);
    let nth = |at: usize| sorted.get(at).copied().unwrap_or(f64::INFINITY);
    match level {
        Level::Raid0 => nth(0),
        Level::Raid5 => nth(1),
        Level::Raid1 => nth(sorted.len().saturating_sub(1)),
        Level::Raid10 => {
            let pairs = ends.chunks(2).map(|pair| pair.iter().copied().fold(0.0, f64::max));
            pairs.fold(f64::INFINITY, f64::min)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lifetime::Endurance;
    use super::*;

    fn life(years: Option<f64>) -> Option<Lifetime> {
        Some(Lifetime {
            rated_cycles: Some(3_000),
            cycles_per_block: 1.0,
            drive_writes_per_day: None,
            mean_wear: years.map(|years| Endurance { tbw: None, years }),
            worst_block: None,
            reason: None,
        })
    }

    /// By hand: members that last 4, 2, 3 and 5 years. Stripes end with the first one; a parity with the second one; mirrors of
    /// all with the last one; mirrored pairs (4, 2) and (3, 5) after 4 and 5 years, so that data is lost after 4.
    #[test]
    fn the_level_says_how_many_members_may_wear_out() {
        let members = [4.0, 2.0, 3.0, 5.0].map(|years| life(Some(years)));
        for (level, loss) in [(Level::Raid0, 2.0), (Level::Raid5, 3.0), (Level::Raid1, 5.0), (Level::Raid10, 4.0)] {
            let found = ArrayLifetime::new(level, &members);
            assert_eq!((found.first_member, found.first_years), (Some(1), Some(2.0)));
            assert_eq!((found.data_loss_years, &found.reason), (Some(loss), &None), "{level:?}");
        }
    }

    #[test]
    fn a_failed_member_is_gone_and_one_without_wear_stays() {
        let members = [None, life(Some(2.0)), life(None)];
        let found = ArrayLifetime::new(Level::Raid5, &members);
        assert_eq!((found.first_member, found.data_loss_years), (Some(1), Some(2.0)));
        assert_eq!(ArrayLifetime::new(Level::Raid1, &members[1..]).data_loss_years, None);
        let nothing = ArrayLifetime::new(Level::Raid0, &[life(None)]);
        assert!(nothing.reason.expect("nothing wears").contains("nothing wears"));
        let unknown = Lifetime { rated_cycles: None, ..life(None).expect("a member") };
        let found = ArrayLifetime::new(Level::Raid0, &[life(Some(1.0)), Some(unknown)]);
        assert!(found.first_years.is_none() && found.reason.expect("why").contains("member_1"));
    }
}
