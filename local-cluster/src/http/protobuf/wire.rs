//! The fields of an encoded message.

#[derive(Clone, Copy)]
pub(super) enum WireValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

pub(super) struct WireReader<'a>(pub(super) &'a [u8]);

impl<'a> WireReader<'a> {
    /// The next field and its number; `Some(None)` at the end, `None` if it is malformed.
    #[expect(
        clippy::option_option,
        reason = "nonsense, end and field are three things"
    )]
    pub(super) fn field(&mut self) -> Option<Option<(u64, WireValue<'a>)>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let tag = self.number()?;
        let raw = match tag & 7 {
            0 => WireValue::Number(self.number()?),
            1 => WireValue::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.number()?).ok()?;
                WireValue::Bytes(self.take(length)?)
            }
            5 => WireValue::Bytes(self.take(4)?),
            _ => return None,
        };
        Some(Some((tag >> 3, raw)))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}
