//! A first look at what it costs; the figures are the benchmark's.

use std::time::Instant;

use narthex_sandbox::{Layer as _, SandboxConfig};

use crate::support::{Bench, ended, fresh, go, layer};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn figures() {
    let layer = layer(false).expect("walls");
    let config = SandboxConfig { calls: 100_000, ..SandboxConfig::default() };
    for _ in 0..3 {
        let began = Instant::now();
        let worker = layer.start().await.expect("worker");
        println!("start {:?}", began.elapsed());
        drop(worker);
        let bench = Bench::default();
        let began = Instant::now();
        let outcome = go(
            &layer,
            "const t = require('host:test'); for (let i = 0; i < 1000; i++) t.add({a: 1, b: 1}); 1",
            fresh(),
            &config,
            &bench,
        )
        .await;
        let narthex_sandbox::drive::Outcome::Over(report) = outcome else { panic!() };
        println!("1000 calls {:?} {:?} {:?}", began.elapsed(), ended(&report), report.used);
    }
}
