//! Moments as typed objects write them: whole seconds.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time as MetaTime;
use mock_clock::Time;

pub(super) fn moment(time: Time) -> MetaTime {
    let nanos = time.unix_nanos();
    MetaTime(Time::from_unix_nanos(nanos - nanos % 1_000_000_000).into())
}

/// The epoch for what lies before it.
pub(super) fn time(moment: &MetaTime) -> Time {
    Time::try_from(moment.0).unwrap_or(Time::EPOCH)
}
