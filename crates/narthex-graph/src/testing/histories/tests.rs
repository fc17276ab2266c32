//! Histories over graphs in memory.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::{ACT_BYTES, Act, MemoryStage, Played, cases, play, seed_bytes, seeds};

/// Four of them, to be run side by side.
macro_rules! histories {
    ($($name:ident: $part:literal),*) => {$(
        #[test]
        fn $name() {
            come_out_as_the_model_says($part);
        }
    )*};
}

histories! {
    histories_come_out_as_the_model_says: 1,
    more_histories_come_out_as_the_model_says: 2,
    even_more_histories_come_out_as_the_model_says: 3,
    and_yet_more_histories_come_out_as_the_model_says: 4
}

fn come_out_as_the_model_says(part: u64) {
    let total = std::cell::Cell::new(Played::default());
    let seeds = seeds(part);
    let each = cases(CASES).div_ceil(PARTS * u32::try_from(seeds.len().max(1)).unwrap());
    for seed in &seeds {
        println!("NARTHEX_SEED={seed}");
        histories(*seed, each, &total);
    }
    println!("{:?}", total.get());
    if !seeds.is_empty() {
        total.get().has_all();
    }
}

fn histories(seed: u64, cases: u32, total: &std::cell::Cell<Played>) {
    let config =
        Config { cases, max_shrink_iters: 20_000, failure_persistence: None, ..Config::default() };
    let acts = vec(any::<[u8; ACT_BYTES]>(), 8..LENGTH);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes(seed));
    let ran = TestRunner::new_with_rng(config, rng).run(&acts, |bytes| {
        let mut sum = total.get();
        sum += now(play(&mut MemoryStage::new(), &Act::history(&bytes)));
        total.set(sum);
        Ok(())
    });
    if let Err(TestError::Fail(why, bytes)) = ran {
        let acts: Vec<String> = Act::history(&bytes).iter().map(|act| format!("{act:?}")).collect();
        panic!("NARTHEX_SEED={seed}: {why}\n{}\n{bytes:?}", acts.join("\n"));
    }
}

fn now<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

/// Histories, unless `NARTHEX_HISTORIES` says how many. A debug build plays some 25 in a second.
const CASES: u32 = 2_000;
const PARTS: u32 = 4;
const LENGTH: usize = 32;
