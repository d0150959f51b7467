//! Programs that run another program: the table.

use crate::hash::HashMap;
use std::sync::LazyLock;

use crate::effect::{Does, FETCH, OVERWRITE, PRIVILEGE, READ, SEND, WRITE};

/// Where the inner command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// The remaining arguments are its argv.
    Argv,
    /// The remaining arguments, joined by blanks, are shell text.
    Text,
    /// The remaining arguments, and more from standard input.
    ArgvAndInput,
    /// The text after `-c`; without it the wrapper runs a login shell.
    DashC,
}

/// One wrapper.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapper {
    pub(crate) names: &'static str,
    /// What the wrapper itself does.
    pub(crate) does: Does,
    /// Options without a value.
    pub(crate) flags: &'static str,
    /// Options with one.
    pub(crate) valued: &'static str,
    /// Options after which nothing is run.
    pub(crate) instead: &'static str,
    /// Operands before the inner command.
    pub(crate) skip: usize,
    /// Whether `NAME=value` may come before the inner command.
    pub(crate) assigns: bool,
    pub(crate) inner: Inner,
}

const fn wrapper(names: &'static str, does: Does, inner: Inner) -> Wrapper {
    Wrapper { names, does, flags: "", valued: "", instead: "", skip: 0, assigns: false, inner }
}

impl Wrapper {
    const fn flags(mut self, flags: &'static str) -> Self {
        self.flags = flags;
        self
    }
    const fn valued(mut self, valued: &'static str) -> Self {
        self.valued = valued;
        self
    }
    const fn instead(mut self, instead: &'static str) -> Self {
        self.instead = instead;
        self
    }
    const fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }
    const fn assigns(mut self) -> Self {
        self.assigns = true;
        self
    }
}

/// All wrappers.
pub(crate) const WRAPPERS: &[Wrapper] = &[
    wrapper("sudo|doas|please|gosu|su-exec", PRIVILEGE, Inner::Argv)
        .flags("-E -H -n -S -k -A -b -l -v -K -i -s -P -B --preserve-env --login --non-interactive --stdin --shell --background")
        .valued("-u -g -h -p -C -T -r -t -U -R -D --user --group --host --prompt --chdir --chroot")
        .instead("-V --version --help")
        .assigns(),
    wrapper("su|runuser", PRIVILEGE, Inner::DashC)
        .flags("-l - -m -p -f --login --preserve-environment")
        .valued("-s -g -G -u --shell")
        .instead("-V --version --help"),
    wrapper("env", READ, Inner::Argv)
        .flags("-i -0 - --ignore-environment --null -v --debug")
        .valued("-u -C --unset --chdir")
        .instead("--version --help")
        .assigns(),
    wrapper("nice", READ, Inner::Argv).valued("-n --adjustment").instead("--version --help"),
    wrapper("ionice", READ, Inner::Argv).flags("-t").valued("-c -n --class --classdata").instead("--version --help"),
    wrapper("nohup", WRITE, Inner::Argv).instead("--version --help"),
    wrapper("timeout|gtimeout", READ, Inner::Argv)
        .flags("-v --preserve-status --foreground --verbose")
        .valued("-k -s --kill-after --signal")
        .instead("--version --help")
        .skip(1),
    wrapper("setsid", READ, Inner::Argv).flags("-c -f -w --ctty --fork --wait").instead("--version --help"),
    wrapper("stdbuf", READ, Inner::Argv).valued("-i -o -e --input --output --error").instead("--version --help"),
    wrapper("time", READ, Inner::Argv).flags("-p -v -l -h --portability --verbose").valued("-f --format").instead("--version --help"),
    wrapper("command", READ, Inner::Argv).flags("-p").instead("-v -V"),
    wrapper("builtin|nocorrect|noglob", READ, Inner::Argv),
    wrapper("exec", READ, Inner::Argv).flags("-c -l").valued("-a"),
    wrapper("chrt|taskset", READ, Inner::Argv).flags("-b -f -i -o -r -c").instead("-m --max --version --help -V -h").skip(1),
    wrapper("caffeinate", READ, Inner::Argv).flags("-d -i -m -s -u").valued("-t -w"),
    // On a Mac it runs a program for another processor; elsewhere it only says which one this is.
    wrapper("arch", READ, Inner::Argv)
        .flags("-arm64 -arm64e -x86_64 -x86_64h -i386 -32 -64 -c -h")
        .valued("-arch --arch -d -e")
        .instead("--version --help"),
    wrapper("chronic|unbuffer|catchsegv|torsocks|torify|proxychains|proxychains4|tsocks|eatmydata|systemd-inhibit|dbus-launch|dbus-run-session", READ, Inner::Argv)
        .flags("-q -v -e"),
    wrapper("busybox|toybox|coreutils", READ, Inner::Argv).instead("--list --help --list-full"),
    wrapper("flock", OVERWRITE, Inner::Argv).flags("-n -x -s -e -u -o -F --nonblock --exclusive --shared").valued("-w -E --timeout").skip(1),
    wrapper("watch", READ, Inner::Text).flags("-d -t -b -e -g -c -p -w --differences --no-title --color").valued("-n --interval").instead("--version --help"),
    // What is typed and shown goes to a file; to `/dev/null` it goes nowhere.
    wrapper("script", OVERWRITE, Inner::Argv).flags("-q -a -e -F -k --quiet --append --return --flush").instead("--version --help").skip(1),
    // It shortens what others print, and counts at home what that saved.
    wrapper("rtk|rtk proxy", READ, Inner::Argv).flags("-v -u --verbose --ultra-compact"),
    wrapper("eval", READ, Inner::Text),
    wrapper("xargs|gxargs", READ, Inner::ArgvAndInput)
        .flags("-0 -r -t -x -p --null --no-run-if-empty --verbose --exit --interactive")
        .valued("-I -n -P -L -d -a -E -s -J -R --max-args --max-procs --delimiter --arg-file --max-chars")
        .instead("--version --help"),
    wrapper("parallel", READ, Inner::Text)
        .flags("-0 -k -v -t --null --keep-order --verbose --bar --dry-run --no-notice --will-cite")
        .valued("-j --jobs -n -N -I -a --delay --timeout --colsep -d --tag")
        .instead("--version --help"),
    wrapper("ssh|autossh|mosh", SEND, Inner::Text)
        .flags("-4 -6 -A -a -C -f -g -K -k -M -N -n -q -s -T -t -v -X -x -Y -y")
        .valued("-p -l -i -b -c -e -m -B -w -Q -W -L -R -D -J")
        .instead("-V")
        .skip(1),
    wrapper("docker exec|podman exec|nerdctl exec|docker container exec", READ, Inner::Argv)
        .flags("-i -t -d --interactive --tty --detach")
        .valued("-e -u -w --env --user --workdir --env-file")
        .skip(1),
    wrapper("docker compose exec|docker-compose exec|podman compose exec", READ, Inner::Argv)
        .flags("-i -t -d -T --interactive --tty --detach --no-TTY")
        .valued("-e -u -w --env --user --workdir --index")
        .skip(1),
    wrapper("kubectl exec|oc exec|k exec", FETCH, Inner::Argv)
        .flags("-i -t -q --stdin --tty -it")
        .valued("-c -n --container --namespace --context")
        .skip(1),
    wrapper("conda run|mamba run|micromamba run|mise exec|mise x|asdf exec|pyenv exec|rbenv exec", crate::effect::BUILD, Inner::Argv)
        .flags("--no-capture-output --live-stream")
        .valued("-n --name -p --prefix --cwd"),
    wrapper("direnv exec|nvm exec|fnm exec", crate::effect::BUILD, Inner::Argv).skip(1),
    wrapper("uv run|poetry run|pipenv run|pdm run|bundle exec|npx|npm exec|npm x|pnpm exec|pnpm dlx|yarn exec|yarn dlx|bunx|bun x|uvx|uv tool run|rustup run", crate::effect::BUILD, Inner::Argv).instead("--version --help"),
];

static INDEX: LazyLock<HashMap<&str, &Wrapper>> = LazyLock::new(|| {
    let named =
        |wrapper: &'static Wrapper| wrapper.names.split('|').map(move |name| (name, wrapper));
    WRAPPERS.iter().flat_map(named).collect()
});

/// The wrapper of that name.
pub(crate) fn find(name: &str) -> Option<&'static Wrapper> {
    INDEX.get(name).copied()
}
