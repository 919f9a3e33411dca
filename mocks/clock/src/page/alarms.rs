//! The table of alarms: timers that foreign processes have set in the kernel, which would let them ring in real time.
//!
//! The timer itself is not set before its virtual moment has come; until then it stands here.

use std::io;
use std::os::unix::fs::FileExt;

use super::layout::{ALARMS, ALARMS_MAX, SHARED, alarm};
use super::{Page, half_word, index, word};

const TABLE: u64 = SHARED + ALARMS;
const LENGTH: usize = index(alarm::LENGTH);
const ALL: usize = index(ALARMS_MAX);

/// A timer that is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alarm {
    pub(crate) pid: u32,
    /// The system call that sets it.
    pub(crate) call: u32,
    /// That call's first argument: which timer.
    pub(crate) which: u64,
    pub(crate) deadline: u64,
    /// Virtual nanoseconds after which it is due again; 0 is once.
    pub(crate) interval: u64,
    /// How often it was set or taken back.
    pub(crate) set: u64,
    /// Which entry it is.
    pub(crate) entry: u64,
}

impl Page {
    /// All alarms that are set, as far as one reading can tell.
    pub(crate) fn alarms(&self) -> io::Result<Vec<Alarm>> {
        let alarms = self.all_alarms()?;
        Ok(alarms.into_iter().filter(|alarm| alarm.deadline != 0).collect())
    }

    /// Empties the entries of a process that has ended.
    pub(crate) fn free_alarms(&self, pid: u32) -> io::Result<()> {
        self.free_alarms_of(|alarm| alarm.pid == pid)
    }

    fn free_alarms_of(&self, freed: impl Fn(&Alarm) -> bool) -> io::Result<()> {
        for alarm in self.all_alarms()?.into_iter().filter(freed) {
            let at = TABLE + alarm.entry * alarm::LENGTH;
            self.put_u64(at + alarm::DEADLINE, 0)?;
            self.put_u64(at + alarm::PID, 0)?;
        }
        Ok(())
    }

    /// Empties those entries of a process that another call sets: of a process that has become another program.
    pub(crate) fn free_alarms_but(&self, pid: u32, call: i64) -> io::Result<()> {
        self.free_alarms_of(|alarm| alarm.pid == pid && i64::from(alarm.call) != call)
    }

    /// Sets an alarm that has rung to ring again at `deadline`, or never, unless it has been set anew meanwhile.
    pub(crate) fn move_alarm(&self, rung: &Alarm, deadline: u64) -> io::Result<()> {
        if self.all_alarms()?.contains(rung) {
            self.put_u64(TABLE + rung.entry * alarm::LENGTH + alarm::DEADLINE, deadline)?;
        }
        Ok(())
    }

    fn all_alarms(&self) -> io::Result<Vec<Alarm>> {
        let mut bytes = [0; ALL * LENGTH];
        self.file.read_exact_at(&mut bytes, TABLE)?;
        Ok((0..).zip(bytes.chunks_exact(LENGTH)).filter_map(|(entry, bytes)| read(entry, bytes)).collect())
    }
}

/// One entry; `None` if it is empty.
fn read(entry: u64, bytes: &[u8]) -> Option<Alarm> {
    let pid = half_word(bytes, index(alarm::PID));
    (pid != 0).then(|| Alarm {
        pid,
        call: half_word(bytes, index(alarm::CALL)),
        which: word(bytes, index(alarm::WHICH)),
        deadline: word(bytes, index(alarm::DEADLINE)),
        interval: word(bytes, index(alarm::INTERVAL)),
        set: word(bytes, index(alarm::SET)),
        entry,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::layout::head;
    use super::*;
    use crate::line::Line;

    /// Writes what a process that sets a timer writes.
    pub(crate) fn set(page: &Page, alarm: &Alarm) {
        let at = TABLE + alarm.entry * alarm::LENGTH;
        page.put_u64(SHARED + head::TRAPS, page.traps().unwrap() + 1).unwrap();
        page.put_u32(at + alarm::PID, alarm.pid).unwrap();
        page.put_u32(at + alarm::CALL, alarm.call).unwrap();
        page.put_u64(at + alarm::WHICH, alarm.which).unwrap();
        page.put_u64(at + alarm::INTERVAL, alarm.interval).unwrap();
        page.put_u64(at + alarm::SET, alarm.set).unwrap();
        page.put_u64(at + alarm::DEADLINE, alarm.deadline).unwrap();
    }

    #[test]
    fn an_alarm_is_read_while_it_is_set() {
        let page = Page::create(Line::still(0, 0), 0, 0).unwrap();
        let last = Alarm { pid: 7, call: 38, which: 1, deadline: 99, interval: 5, set: 3, entry: 63 };
        let other = Alarm { pid: 8, entry: 0, ..last };
        let taken_back = Alarm { deadline: 0, entry: 1, ..last };
        for alarm in [last, other, taken_back] {
            set(&page, &alarm);
        }
        assert_eq!(page.published().unwrap().alarms, [other, last]);
        page.free_alarms(7).unwrap();
        assert_eq!(page.published().unwrap().alarms, [other]);
        assert_eq!(page.all_alarms().unwrap().len(), 1, "also the one that was taken back");
    }
}
