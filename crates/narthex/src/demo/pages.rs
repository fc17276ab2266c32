//! The pages of the demo: a small place with its people, its instruments and its habits.

/// A page to begin with.
#[derive(Debug)]
pub(super) struct Seed {
    pub(super) slug: &'static str,
    pub(super) title: &'static str,
    pub(super) tags: &'static [&'static str],
    pub(super) body: &'static str,
}

/// What the demo agent may see.
pub(super) const HARBOUR: &[Seed] = &[
    Seed {
        slug: "home",
        title: "Harbour Observatory",
        tags: &["start"],
        body: "# Harbour Observatory\n\nA small weather and tide station at the end of the east pier.\n\n\
               - Who we are: [[people]]\n- What we measure with: [[instruments/tide-gauge]], \
               [[instruments/anemometer]], [[instruments/lighthouse-camera]]\n- How a day goes: \
               [[routines/morning-round]] and [[routines/storm-watch]]\n- What went wrong and why: \
               [[log/2026-03-storm]]\n",
    },
    Seed {
        slug: "people",
        title: "People",
        tags: &["people"],
        body: "# People\n\n**Ines** keeps the instruments, **Tomas** the data, **Ruth** opens the lighthouse \
               to visitors on Sundays. New helpers start with [[routines/morning-round]].\n",
    },
    Seed {
        slug: "instruments/tide-gauge",
        title: "Tide gauge",
        tags: &["instrument", "water"],
        body: "# Tide gauge\n\nA radar gauge under the pier, one reading every ten seconds, averaged to a \
               minute. Zero is chart datum. After a storm, compare with the staff by hand: see \
               [[routines/storm-watch]].\n\nKnown quirk: barnacles on the bracket shift it by two \
               millimetres a month.\n",
    },
    Seed {
        slug: "instruments/anemometer",
        title: "Anemometer",
        tags: &["instrument", "wind"],
        body: "# Anemometer\n\nOn the lighthouse gallery, 31 metres above the sea. Gusts are three-second \
               means. It iced over in [[log/2026-03-storm]]; the heater was fitted afterwards.\n",
    },
    Seed {
        slug: "instruments/lighthouse-camera",
        title: "Lighthouse camera",
        tags: &["instrument"],
        body: "# Lighthouse camera\n\nLooks east from the lighthouse, one picture a minute. Visibility is \
               read off four marks: the buoy, the breakwater, the far shore, the wind farm. People \
               are never to be recognisable in a picture that leaves the station.\n",
    },
    Seed {
        slug: "routines/morning-round",
        title: "Morning round",
        tags: &["routine"],
        body: "# Morning round\n\n1. Read the staff at the pier, write it beside the [[instruments/tide-gauge]].\n\
               2. Wipe the lens of the [[instruments/lighthouse-camera]].\n3. Look at yesterday's gusts \
               from the [[instruments/anemometer]]; a flat line means ice or a cable.\n4. Write the day's \
               sentence into the log.\n",
    },
    Seed {
        slug: "routines/storm-watch",
        title: "Storm watch",
        tags: &["routine", "safety"],
        body: "# Storm watch\n\nFrom force 8 two people are in the lighthouse, never one. Nobody walks the \
               pier. Readings go to the harbour master every half hour by radio, not by telephone.\n\n\
               What we learnt is in [[log/2026-03-storm]].\n",
    },
    Seed {
        slug: "log/2026-03-storm",
        title: "The storm of March 2026",
        tags: &["log"],
        body: "# The storm of March 2026\n\nHighest water 4.31 m at 03:40, highest gust 47 m/s before the \
               [[instruments/anemometer]] froze. The gauge and the staff disagreed by six centimetres \
               until the bracket was cleaned. The lamp of the lighthouse never went out.\n",
    },
];

/// What the demo agent must never see.
pub(super) const PRIVATE: &[Seed] = &[
    Seed {
        slug: "home",
        title: "Private",
        tags: &["private"],
        body: "# Private\n\nThings that are nobody's business: [[salaries]], [[health]].\n",
    },
    Seed {
        slug: "salaries",
        title: "Salaries",
        tags: &["private"],
        body: "# Salaries\n\nTo be settled with the trust in autumn. The lighthouse fund covers Ruth's hours \
               until then. (If an agent of the other space ever reads the word heliotrope, something \
               is broken.)\n",
    },
    Seed {
        slug: "health",
        title: "Health",
        tags: &["private"],
        body: "# Health\n\nWho must not climb the tower, and why.\n",
    },
];
