//! Repeatable randomness: one seed per instance, one stream per use.
//!
//! A seed is derived from names alone, so the same options always give the same rows; and every use
//! has a stream of its own, so that a new draw in one place shifts nothing in another.

use rand_mt::Mt;
use sha2::{Digest, Sha256};

/// What an instance, or a node of it, derives its streams from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed of an instance: of a fixture's id or a world's name, and of the number the caller gave.
    ///
    /// No number is a seed too: the default one, which repeats like any other.
    #[must_use]
    pub fn new(source: &str, seed: Option<u64>) -> Self {
        match seed {
            Some(number) => Self::derive(&[source.as_bytes(), &number.to_be_bytes()]),
            None => Self::derive(&[source.as_bytes(), b"default"]),
        }
    }

    /// The seed of an added node; the root uses the instance's own.
    #[must_use]
    pub fn node(&self, path: &str) -> Self {
        Self::derive(&[&self.0, b"node", path.as_bytes()])
    }

    /// The stream of one connection, by its label: `instance`, `inspection`, `control`, `build`, `setup`.
    #[must_use]
    pub fn stream(&self, label: &str) -> Stream {
        Stream::seeded(&Self::derive(&[&self.0, label.as_bytes()]).0)
    }

    /// The stream that identifiers are made from, apart from everything that SQL draws.
    #[must_use]
    pub fn identifiers(&self) -> Stream {
        Stream::seeded(&self.0)
    }

    fn derive(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                hash.update([0]);
            }
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

/// A sequence of draws; the same values as CPython's `random.Random` gives for the same seed.
#[derive(Clone, Debug)]
pub struct Stream(Mt);

impl Stream {
    /// `random.Random(int.from_bytes(digest, "big"))`: the key is the integer's words, lowest first,
    /// without leading zeros.
    fn seeded(digest: &[u8; 32]) -> Self {
        let (words, _) = digest.as_chunks::<4>();
        let mut key: Vec<u32> = words.iter().rev().map(|word| u32::from_be_bytes(*word)).collect();
        while key.len() > 1 && key.last() == Some(&0) {
            key.pop();
        }
        Self(Mt::new_with_key(key))
    }

    /// What SQL's `random()` answers: any integer but the smallest, whose magnitude has no counterpart.
    pub fn random(&mut self) -> i64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        fold(i64::from_be_bytes(bytes))
    }

    /// What SQL's `randomblob(n)` answers.
    pub fn blob(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.fill(&mut bytes);
        bytes
    }

    /// The next `count` random bits, as `getrandbits(count)` gives them; more than 128 count as 128.
    pub fn bits(&mut self, count: u32) -> u128 {
        let mut value = 0;
        let mut shift = 0;
        let count = count.min(128);
        while shift < count {
            value |= u128::from(self.word(count - shift)) << shift;
            shift += 32;
        }
        value
    }

    /// A version 4 UUID in its usual text form.
    pub fn uuid(&mut self) -> String {
        const VERSION: u128 = 0xf000 << 64;
        const VARIANT: u128 = 0b11 << 62;
        let bits = (self.bits(128) & !VERSION & !VARIANT) | (0x4000 << 64) | (0b10 << 62);
        let hex = format!("{bits:032x}");
        let (time, rest) = hex.split_at(8);
        let (mid, rest) = rest.split_at(4);
        let (high, rest) = rest.split_at(4);
        let (variant, node) = rest.split_at(4);
        format!("{time}-{mid}-{high}-{variant}-{node}")
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(4) {
            // A short last chunk takes the word's high bits, as `randbytes` does.
            let bits = if chunk.len() < 4 { 8 * chunk.len() as u32 } else { 32 };
            let word = self.word(bits).to_le_bytes();
            for (byte, drawn) in chunk.iter_mut().zip(word) {
                *byte = drawn;
            }
        }
    }

    /// One draw's highest `bits`; 32 and more are all of it.
    fn word(&mut self, bits: u32) -> u32 {
        self.0.next_u32() >> 32u32.saturating_sub(bits)
    }
}

/// SQLite's `random()` never answers the smallest integer, so that `abs(random())` can't overflow.
pub(super) fn fold(drawn: i64) -> i64 {
    if drawn < 0 { -(drawn & i64::MAX) } else { drawn }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Every value below was taken from CPython 3.11, with the derivation written out there once more.

    fn base() -> Seed {
        Seed::new("base", Some(7))
    }

    fn randoms(mut stream: Stream, count: usize) -> Vec<i64> {
        (0..count).map(|_| stream.random()).collect()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_published_check_values_come_out() {
        let mut stream = base().stream("instance");
        assert_eq!(stream.random(), 2_837_102_585_351_533_444);
        assert_eq!(hex(&stream.blob(4)), "a3c3e19c");
        assert_eq!(base().identifiers().uuid(), "501fc72e-8211-4de7-abd0-e00fbfefd567");
        assert_eq!(base().node("pay").identifiers().uuid(), "cbc36d5b-7b98-4252-886b-d0281b70dbd1");
    }

    #[test]
    fn random_and_blobs_of_every_remainder_equal_the_reference_generator() {
        let mut stream = base().stream("instance");
        let drawn: Vec<i64> = (0..6).map(|_| stream.random()).collect();
        assert_eq!(
            drawn,
            [
                2_837_102_585_351_533_444,
                -2_577_151_474_446_169_872,
                -6_705_697_707_456_881_177,
                -3_201_190_821_918_507_080,
                4_067_647_050_104_891_327,
                530_384_653_894_427_647
            ]
        );
        let blobs: Vec<String> = [1, 2, 3, 5, 16, 33].map(|length| hex(&stream.blob(length))).into();
        assert_eq!(
            blobs,
            [
                "60",
                "d849",
                "8e6777",
                "7e0f50f734",
                "3ab4d2e12c40152300ca9cd889feaeeb",
                "c24060a781a665c995ed816683944561626c87b29311b5a0df20fd7bdefa89d0d7"
            ]
        );
    }

    #[test]
    fn no_seed_the_largest_seed_and_nodes_have_their_own_streams() {
        assert_eq!(
            randoms(Seed::new("seawall", None).stream("setup"), 4),
            [
                -6_266_330_671_332_901_285,
                -1_904_426_201_606_170_221,
                588_230_021_731_455_440,
                -167_957_527_398_498_142
            ]
        );
        assert_eq!(
            randoms(Seed::new("wörld", Some(u64::MAX)).stream("setup"), 2),
            [3_308_304_787_013_655_040, 5_370_326_296_814_004_524]
        );
        assert_eq!(
            randoms(base().node("pay").stream("control"), 2),
            [773_150_190_802_019_265, -2_290_648_186_201_419_899]
        );
    }

    #[test]
    fn bits_of_any_width_and_uuids_equal_the_reference_generator() {
        let mut stream = base().stream("bits");
        let drawn = [1, 5, 31, 32, 33, 64, 100, 128].map(|count| stream.bits(count));
        assert_eq!(
            drawn,
            [
                1,
                7,
                513_513_558,
                4_098_585_407,
                2_890_950_752,
                1_119_211_356_559_381_169,
                731_166_530_233_060_728_927_043_851_882,
                156_585_188_886_818_206_144_554_315_125_521_867_328
            ]
        );
        let mut stream = base().identifiers();
        let uuids = [stream.uuid(), stream.uuid(), stream.uuid()];
        assert_eq!(
            uuids,
            [
                "501fc72e-8211-4de7-abd0-e00fbfefd567",
                "8073c2de-1d47-4751-979a-b7f0de844f1c",
                "1ae77930-7382-4c95-bfa0-d380a0b5aaf1"
            ]
        );
    }

    #[test]
    fn a_digest_that_starts_with_zeros_keeps_the_shorter_key() {
        let mut digest = Seed::derive(&[b"z"]).0;
        digest[..4].fill(0);
        assert_eq!(
            randoms(Stream::seeded(&digest), 2),
            [-2_824_846_340_492_908_873, 1_672_211_293_516_198_813]
        );
        assert_eq!(randoms(Stream::seeded(&[0; 32]), 1), [-5_550_454_375_176_970_082]);
    }

    #[test]
    fn the_stream_goes_on_past_one_block_of_the_generator() {
        let mut stream = base().stream("far");
        for _ in 0..2000 {
            stream.bits(32);
        }
        assert_eq!(stream.random(), -3_438_404_160_199_021_383);
    }

    #[test]
    fn the_smallest_integer_is_never_drawn() {
        assert_eq!(fold(i64::MIN), 0);
        assert_eq!(fold(-1), -i64::MAX);
        assert_eq!(fold(i64::MAX), i64::MAX);
    }

    #[test]
    fn a_stream_restarts_at_each_opening() {
        assert_eq!(randoms(base().stream("setup"), 3), randoms(base().stream("setup"), 3));
        assert_ne!(randoms(base().stream("setup"), 3), randoms(base().stream("control"), 3));
    }
}
