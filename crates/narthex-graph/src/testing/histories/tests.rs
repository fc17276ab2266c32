//! Histories over graphs in memory.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::{ACT_BYTES, Act, MemoryStage, Played, cases, play, seed_bytes, seeds};

#[test]
fn histories_come_out_as_the_model_says() {
    let total = std::cell::Cell::new(Played::default());
    let seeds = seeds();
    let each = cases(CASES).div_ceil(u32::try_from(seeds.len()).unwrap());
    for seed in seeds {
        println!("NARTHEX_SEED={seed}");
        histories(seed, each, &total);
    }
    println!("{:?}", total.get());
    let Played { refused, merged, decided, met, late, grown, ruled, .. } = total.get();
    for (what, count) in [
        ("refused", refused),
        ("merged", merged),
        ("met", met),
        ("late", late),
        ("grown", grown),
        ("ruled", ruled),
    ] {
        assert!(count > 0, "nothing was {what}: {:?}", total.get());
    }
    assert!(decided > 0, "no question was answered: {:?}", total.get());
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

/// Histories, unless `NARTHEX_HISTORIES` says how many: what a debug build plays in some 20 seconds.
const CASES: u32 = 500;
const LENGTH: usize = 32;
