//! Random schemas, values that fit them, and a reader of declarations. Seeded: a number gives the
//! same schema every time.

pub(crate) mod lexer;
pub(crate) mod sampled;
pub(crate) mod wild;

/// Small numbers, one after the other (splitmix64).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Less than this.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or(0)
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// Texts that try to leave the place they are put in. Each would declare `PWNED` if it did.
pub(crate) const HOSTILE: &[&str] = &[
    "*/ declare const PWNED: number; /*",
    "*\u{200b}/ declare const PWNED: number; /*",
    "**/}\ndeclare const PWNED: number;\ndeclare module \"x\" {/*",
    "\"; declare const PWNED: number; //",
    "\\\"; declare const PWNED: number; //",
    "x\"; } declare global { const PWNED: number; } //",
    "\u{2028}*/declare const PWNED: number;\u{2029}",
    "\r*/\rdeclare const PWNED: number;\r/*",
    "\u{85}*/ declare const PWNED: number;",
    "`${0}` */ declare const PWNED: number; //",
    "a: any }\n} declare const PWNED: number; declare module \"y\" { interface Z {",
    "@ts-ignore",
    "x\n@ts-nocheck\n@ts-expect-error",
    "\n// @ts-ignore\n/// <reference path=\"/etc/passwd\" />",
    "/// <reference types=\"node\" />",
    "\u{202e}*\u{2066}/ declare const PWNED: number;",
    "*",
    "/",
    "\\",
    "\"",
    "'",
    "\0\u{1b}[31m\u{feff}\u{e0041}",
    "__proto__",
    "constructor",
    "",
];
