//! Histories over graphs in memory.

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{ACT_BYTES, Act, MemoryStage, Played, play};

#[test]
fn histories_come_out_as_the_model_says() {
    #[expect(clippy::disallowed_methods, reason = "asked for by whoever runs the test")]
    let asked: Option<u32> =
        std::env::var("NARTHEX_HISTORIES").ok().and_then(|text| text.parse().ok());
    let config = Config {
        cases: asked.unwrap_or(CASES),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..Config::default()
    };
    let acts = vec(any::<[u8; ACT_BYTES]>(), 8..LENGTH);
    let total = std::cell::Cell::new(Played::default());
    // The same each time, unless more are asked for.
    let mut runner = if asked.is_some() {
        TestRunner::new(config)
    } else {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        TestRunner::new_with_rng(config, rng)
    };
    let ran = runner.run(&acts, |bytes| {
        let acts = Act::of(bytes.as_flattened());
        let mut sum = total.get();
        sum += now(play(&mut MemoryStage::new(), &acts));
        total.set(sum);
        Ok(())
    });
    println!("{:?}", total.get());
    if let Err(proptest::test_runner::TestError::Fail(why, bytes)) = ran {
        let acts: Vec<String> =
            Act::of(bytes.as_flattened()).iter().map(|act| format!("{act:?}")).collect();
        panic!("{why}\n{}\n{bytes:?}", acts.join("\n"));
    }
    let Played { refused, merged, decided, met, late, grown, .. } = total.get();
    for (what, count) in
        [("refused", refused), ("merged", merged), ("met", met), ("late", late), ("grown", grown)]
    {
        assert!(count > 0, "nothing was {what}: {:?}", total.get());
    }
    assert!(decided > 0, "no question was answered: {:?}", total.get());
}

fn now<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(future)
}

/// Histories, unless `NARTHEX_HISTORIES` says how many.
const CASES: u32 = 250;
const LENGTH: usize = 32;
