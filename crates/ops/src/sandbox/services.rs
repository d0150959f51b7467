//! Programs that read by asking a service of the machine. Their reading names no path and no host, and
//! still they reach something: the sandbox that holds them to reading has to let just that pass.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use umbo_command::Effect;

/// A service, and the programs that ask it.
struct Service {
    programs: &'static [&'static str],
    /// Its sockets, or directories of them: `~` is the home, `{uid}` the number of the user.
    sockets: &'static [&'static str],
    /// Variables that say where else it is: a socket, or another machine.
    variables: &'static [&'static str],
    /// Where the programs keep the credentials for it, below the home.
    credentials: &'static [&'static str],
    /// Variables with credentials for it.
    keys: &'static [&'static str],
    /// Whether it may listen at a port, here or on another machine.
    has_port: bool,
}

const NONE: Service = Service {
    programs: &[],
    sockets: &[],
    variables: &[],
    credentials: &[],
    keys: &[],
    has_port: false,
};

const SERVICES: &[Service] = &[
    Service {
        programs: &["docker", "docker-compose"],
        sockets: &[
            "/var/run/docker.sock",
            "/run/user/{uid}/docker.sock",
            "~/.docker/run/docker.sock",
            "~/.docker/desktop/docker.sock",
        ],
        variables: &["DOCKER_HOST"],
        credentials: &[".docker/config.json"],
        ..NONE
    },
    Service {
        programs: &["psql", "pg_isready", "pg_dump", "pg_dumpall"],
        sockets: &["/var/run/postgresql", "/tmp/.s.PGSQL.5432"],
        variables: &["PGHOST"],
        credentials: &[".pgpass", ".pg_service.conf"],
        keys: &["PGPASSWORD"],
        has_port: true,
    },
    Service {
        programs: &["mysql", "mariadb", "mysqladmin", "mariadb-admin", "mysqlshow", "mysqldump"],
        sockets: &["/var/run/mysqld", "/tmp/mysql.sock"],
        variables: &["MYSQL_UNIX_PORT"],
        credentials: &[".my.cnf", ".mylogin.cnf"],
        keys: &["MYSQL_PWD"],
        has_port: true,
    },
    Service {
        programs: &["redis-cli", "valkey-cli"],
        sockets: &["/var/run/redis", "/var/run/valkey"],
        keys: &["REDISCLI_AUTH"],
        has_port: true,
        ..NONE
    },
    Service {
        programs: &["mongosh", "mongo", "influx", "cqlsh", "adb", "rabbitmqctl"],
        has_port: true,
        ..NONE
    },
    Service {
        programs: &["kubectl", "helm", "oc"],
        credentials: &[".kube"],
        keys: &["KUBECONFIG"],
        ..NONE
    },
    Service {
        programs: &["gh"],
        credentials: &[".config/gh"],
        keys: &["GH_TOKEN", "GITHUB_TOKEN"],
        ..NONE
    },
    Service {
        programs: &["aws"],
        credentials: &[".aws"],
        keys: &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
        ..NONE
    },
    Service {
        programs: &["gcloud", "gsutil", "bq"],
        credentials: &[".config/gcloud"],
        keys: &["GOOGLE_APPLICATION_CREDENTIALS"],
        ..NONE
    },
    Service { programs: &["az"], credentials: &[".azure"], ..NONE },
    Service { programs: &["tmux"], sockets: &["/tmp/tmux-{uid}"], ..NONE },
    Service {
        programs: &["virsh"],
        sockets: &["/var/run/libvirt", "/run/user/{uid}/libvirt"],
        ..NONE
    },
    Service {
        programs: &["lxc", "incus"],
        sockets: &["/var/snap/lxd/common/lxd/unix.socket", "/var/lib/incus/unix.socket"],
        ..NONE
    },
    Service {
        programs: &[
            "systemctl",
            "loginctl",
            "hostnamectl",
            "timedatectl",
            "localectl",
            "networkctl",
            "resolvectl",
            "nmcli",
            "busctl",
        ],
        sockets: &[
            "/run/dbus/system_bus_socket",
            "/run/systemd/private",
            "/run/systemd/resolve",
            "/run/systemd/netif",
            "/run/user/{uid}/bus",
            "/run/user/{uid}/systemd/private",
        ],
        variables: &["DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS"],
        keys: &["XDG_RUNTIME_DIR"],
        ..NONE
    },
    Service { programs: &["lpstat", "lpq"], sockets: &["/var/run/cups/cups.sock"], ..NONE },
    Service {
        programs: &["supervisorctl"],
        sockets: &["/var/run/supervisor.sock", "/var/run/supervisor/supervisor.sock"],
        has_port: true,
        ..NONE
    },
];

/// The variables that say where a service is.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    SERVICES.iter().flat_map(|service| service.variables).copied()
}

/// What the commands behind some effects reach by asking services.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// Sockets, or directories of them; some may not be there.
    pub(super) sockets: Vec<PathBuf>,
    /// Whether a port, here or elsewhere.
    pub(super) has_port: bool,
    /// Files and directories with the credentials for it; some may not be there.
    pub(super) credentials: Vec<PathBuf>,
    /// Variables that say where it is, or have credentials.
    pub(super) variables: Vec<&'static str>,
}

/// What the commands behind some effects reach. `variable` gives those of the caller.
pub(super) fn reached<'v>(
    effects: &[Effect],
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<&'v str>,
) -> Reached {
    let mut reached = Reached::default();
    let user = std::fs::metadata("/proc/self").map(|own| own.uid().to_string());
    let user = user.unwrap_or_default();
    for effect in effects {
        let name = effect.program.split_ascii_whitespace().next().unwrap_or_default();
        let is_asked = |service: &&Service| service.programs.contains(&name);
        let Some(service) = SERVICES.iter().find(is_asked) else { continue };
        reached.has_port |= service.has_port;
        for socket in service.sockets {
            let socket = socket.replace("{uid}", &user);
            match (socket.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => reached.sockets.push(home.join(rest)),
                (Some(_), None) => {}
                (None, _) => reached.sockets.push(socket.into()),
            }
        }
        if let Some(home) = home {
            reached.credentials.extend(service.credentials.iter().map(|path| home.join(path)));
        }
        reached.variables.extend(service.variables.iter().chain(service.keys));
        for value in service.variables.iter().filter_map(|name| variable(name)) {
            let path = ["unix://", "unix:path="].iter().find_map(|kind| value.strip_prefix(kind));
            // D-Bus says more about a socket behind a comma.
            match path.map_or(value, |path| path.split(',').next().unwrap_or(path)) {
                path if path.starts_with('/') => reached.sockets.push(path.into()),
                _ => reached.has_port = true,
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use umbo_command::{Shell, read};

    use super::*;

    fn of(line: &str, variables: &[(&str, &'static str)]) -> Reached {
        let effects = read(line, Shell::Bash).effects;
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        reached(&effects, Some(Path::new("/h")), variable)
    }

    #[test]
    fn what_reads_files_alone_reaches_nothing() {
        assert_eq!(of("cat x | grep y && git status", &[]), Reached::default());
    }

    #[test]
    fn a_service_is_reached_where_it_is() {
        let docker = of("docker ps | wc -l", &[]);
        assert!(docker.sockets.contains(&"/var/run/docker.sock".into()), "{docker:?}");
        assert!(docker.sockets.contains(&"/h/.docker/run/docker.sock".into()), "{docker:?}");
        assert!(!docker.has_port);
        let own = of("docker ps", &[("DOCKER_HOST", "unix:///x/d.sock")]);
        assert!(own.sockets.contains(&"/x/d.sock".into()) && !own.has_port, "{own:?}");
        assert!(of("docker ps", &[("DOCKER_HOST", "tcp://h:2375")]).has_port);
        let bus = ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/x/bus,guid=12");
        let units = of("systemctl --user status", &[bus]);
        assert!(units.sockets.contains(&"/run/dbus/system_bus_socket".into()), "{units:?}");
        assert!(units.sockets.contains(&"/x/bus".into()) && !units.has_port, "{units:?}");
        assert!(of("psql -c 'select 1'", &[]).has_port);
    }
}
