//! Hears of a file that is made, however short it is there: on Linux by inotify, elsewhere not at
//! all. Whoever listens looks now and then as well.

#[cfg(target_os = "linux")]
pub(super) use linux::Arrivals;
#[cfg(not(target_os = "linux"))]
pub(super) use unheard::Arrivals;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
    use rustix::io::Errno;
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// What is made in a folder.
    #[derive(Debug)]
    pub(crate) struct Arrivals {
        path: PathBuf,
        events: AsyncFd<OwnedFd>,
    }

    impl Arrivals {
        /// Listens for this file from now on.
        pub(crate) fn of(path: &Path) -> io::Result<Self> {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let events = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            let (made, lost) = (
                // A link, of either kind, is created as well.
                WatchFlags::CREATE | WatchFlags::MOVED_TO,
                WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF,
            );
            let folder = folder.unwrap_or(Path::new("."));
            add_watch(&events, folder, made | lost | WatchFlags::ONLYDIR)?;
            #[expect(
                deprecated,
                reason = "what replaces it is unsafe; an OwnedFd upholds its terms"
            )]
            let events = AsyncFd::with_interest(events, Interest::READABLE)?;
            Ok(Self { path: path.to_owned(), events })
        }

        /// Returns when it was made. After an error nothing is heard any more.
        pub(crate) async fn came(&self) -> io::Result<()> {
            loop {
                let mut ready = self.events.readable().await?;
                if let Ok(came) = ready.try_io(|events| self.read(events.get_ref()))
                    && came?
                {
                    return Ok(());
                }
            }
        }

        /// Whether it is among what was made since. What else was made is forgotten.
        fn read(&self, events: &OwnedFd) -> io::Result<bool> {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(events, &mut buffer);
            let (mut came, mut any) = (false, false);
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) if any => return Ok(came),
                    Err(error) => return Err(error.into()),
                };
                any = true;
                if event.events().intersects(LOST) {
                    return Err(io::Error::other("the watch on its folder was lost"));
                }
                let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                came |= name.is_some() && name == self.path.file_name();
            }
        }
    }

    /// More came than could be kept, or the folder is gone.
    const LOST: ReadFlags = ReadFlags::QUEUE_OVERFLOW
        .union(ReadFlags::IGNORED)
        .union(ReadFlags::UNMOUNT)
        .union(ReadFlags::DELETE_SELF)
        .union(ReadFlags::MOVE_SELF);

    #[cfg(test)]
    mod tests {
        use super::Arrivals;
        use std::fs;
        use std::io;
        use std::os::unix::fs::symlink;
        use std::path::Path;
        use std::time::Duration;

        type Make = fn(&Path, &Path) -> io::Result<()>;

        async fn heard(arrivals: &Arrivals) -> Option<io::Result<()>> {
            tokio::time::timeout(Duration::from_millis(200), arrivals.came()).await.ok()
        }

        #[tokio::test]
        async fn however_it_is_made_and_deleted_again_it_is_heard() {
            let folder = tempfile::tempdir().expect("a folder");
            let (stop, other) = (folder.path().join("STOP"), folder.path().join("other"));
            fs::write(&other, "").expect("a file");
            let arrivals = Arrivals::of(&stop).expect("a watch");
            let ways: [(&str, bool, Make); 8] = [
                ("nothing", false, |_, _| Ok(())),
                ("created", true, |stop, _| fs::write(stop, "")),
                ("a folder", true, |stop, _| fs::create_dir(stop)),
                ("linked", true, |stop, other| fs::hard_link(other, stop)),
                ("a link to nothing", true, |stop, _| symlink("/nowhere", stop)),
                ("another name", false, |stop, _| fs::write(stop.with_file_name("STOP2"), "")),
                ("another case", false, |stop, _| fs::write(stop.with_file_name("stop"), "")),
                ("moved there", true, |stop, other| fs::rename(other, stop)),
            ];
            for (how, is_heard, make) in ways {
                make(&stop, &other).expect(how);
                let _ = fs::remove_file(&stop).or_else(|_| fs::remove_dir(&stop));
                let heard = heard(&arrivals).await;
                assert_eq!(heard.is_some_and(|heard| heard.is_ok()), is_heard, "{how}");
            }
        }

        #[tokio::test]
        async fn a_watch_that_is_lost_or_cannot_be_says_so() {
            let folder = tempfile::tempdir().expect("a folder");
            let inner = folder.path().join("inner");
            assert!(Arrivals::of(&inner.join("STOP")).is_err(), "no folder");
            fs::write(&inner, "").expect("a file");
            assert!(Arrivals::of(&inner.join("STOP")).is_err(), "a file");
            fs::remove_file(&inner).expect("gone");
            let ways: [fn(&Path) -> io::Result<()>; 2] = [
                |inner| fs::remove_dir(inner),
                |inner| fs::rename(inner, inner.with_file_name("elsewhere")),
            ];
            for lose in ways {
                fs::create_dir(&inner).expect("a folder");
                let arrivals = Arrivals::of(&inner.join("STOP")).expect("a watch");
                lose(&inner).expect("lost");
                assert!(heard(&arrivals).await.is_some_and(|heard| heard.is_err()));
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unheard {
    use std::io;
    use std::path::Path;

    #[derive(Debug)]
    pub(crate) struct Arrivals;

    impl Arrivals {
        #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
        pub(crate) fn of(_: &Path) -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) async fn came(&self) -> io::Result<()> {
            std::future::pending().await
        }
    }
}
