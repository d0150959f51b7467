//! Paths that matter whatever the program: secrets, the system, and devices.

use crate::effect::{DESTROY, DEVICE, Does, SECRET, SERVICE, UPLOAD};

/// Devices that may be written to without a trace.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin" | "/dev/tty" | "/dev/zero"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// The path without `.` and empty parts and with `..` resolved, as far as the text goes.
pub(crate) fn normal(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && *last != "~") => {
                parts.pop();
            }
            ".." if absolute && parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

const SECRET_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".htpasswd",
    "credentials.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    "hosts.yml",
    ".dockercfg",
    "shadow",
    "shadow-",
    "gshadow",
    "sudoers",
    ".bash_history",
    ".zsh_history",
    "wallet.dat",
    "master.key",
    ".envrc",
    "credentials.toml",
    ".credentials.json",
    "rclone.conf",
    ".s3cfg",
    ".boto",
    "application_default_credentials.json",
    "access_tokens.db",
    "credentials.db",
    "credentials.tfrc.json",
    ".databrickscfg",
    "oauth_creds.json",
    "logins.json",
    "key3.db",
    "key4.db",
    "cookies.sqlite",
    "Login Data",
    "secring.gpg",
    ".mysql_history",
    ".psql_history",
    ".python_history",
    ".node_repl_history",
    ".sqlite_history",
    ".rediscli_history",
    "fish_history",
    "kubeconfig",
    ".vault_pass",
    "vault_pass.txt",
    ".vault-password",
    ".pgpass.conf",
    "krb5.keytab",
    "service-account.json",
    "serviceaccount.json",
    ".claude.json",
    ".dockerconfigjson",
    "keystore.json",
];

const SECRET_PLACES: &[&str] = &[
    "/.ssh/",
    "/.aws/",
    "/.gnupg/",
    "/.kube/",
    "/.docker/config.json",
    "/.config/gcloud/",
    "/run/secrets/",
    "/.azure/",
    "/.password-store/",
    "/etc/sudoers",
    "/.config/gh/",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_",
    "/.cargo/credentials",
    "/.codex/auth.json",
    "/.gemini/oauth",
    "/.local/share/opencode/auth.json",
    "/.config/github-copilot/",
    "/.config/glab-cli/",
    "/.config/hub",
    "/.config/op/",
    "/.config/rclone/",
    "/.config/doctl/",
    "/.config/hcloud/",
    "/.config/configstore/",
    "/.config/containers/auth.json",
    "/.config/helm/registry",
    "/.config/sops/",
    "/.config/solana/id.json",
    "/.config/google-chrome/",
    "/.config/chromium/",
    "/.config/BraveSoftware/",
    "/.config/microsoft-edge/",
    "/.mozilla/",
    "/Application Support/Google/Chrome/",
    "/Application Support/Firefox/",
    "/Application Support/BraveSoftware/",
    "/Library/Keychains/",
    "/Library/Cookies/",
    "/.local/share/keyrings/",
    "/.local/share/kwalletd/",
    "/.gnome2/keyrings/",
    "/.pulumi/credentials.json",
    "/.terraform.d/credentials",
    "/.oci/",
    "/.aliyun/",
    "/.bluemix/",
    "/.fly/config.yml",
    "/.netlify/config.json",
    "/.supabase/",
    "/.composer/auth.json",
    "/.gem/credentials",
    "/.m2/settings-security.xml",
    "/.snowsql/",
    "/.electrum/",
    "/.ethereum/keystore",
    "/.bitcoin/wallet",
    "/.step/",
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/pki/",
    "/etc/rancher/k3s/k3s.yaml",
    "/etc/wireguard/",
    "/etc/openvpn/",
    "/etc/NetworkManager/system-connections/",
    "/etc/krb5.keytab",
    "/etc/letsencrypt/live/",
    "/etc/letsencrypt/archive/",
    "/var/run/secrets/",
    "/proc/kcore",
];

/// One of these is in each of the places: most paths have none, and are not searched for all of them.
const SECRET_PLACE_MARKS: &[&str] =
    &["/.", "/etc/", "/run/", "/proc/", "/Library/", "/Application Support/"];

/// Whether reading the path reveals a secret.
pub(crate) fn is_secret(text: &str) -> bool {
    // `HEAD:.env`, `file=@.env` and `host:path` all name a path at their end.
    let path = text.rsplit([':', '=', '@']).next().unwrap_or(text);
    let path = format!("/{}", normal(path));
    let name = path.rsplit('/').next().unwrap_or("");
    let public = name.rsplit_once('.').is_some_and(|(_, extension)| extension == "pub");
    if public || matches!(name, "known_hosts" | "authorized_keys") {
        return false;
    }
    if path.ends_with("/.ssh/config") {
        return false;
    }
    if name == ".env" || name.starts_with(".env.") || name.starts_with(".env*") {
        return ![".example", ".sample", ".template", ".dist", ".defaults"]
            .iter()
            .any(|s| name.ends_with(s));
    }
    let environ = path.starts_with("/proc/") || path.starts_with("//proc/");
    if environ && (path.ends_with("/environ") || path.ends_with("/mem")) {
        return true;
    }
    let named = SECRET_NAMES.contains(&name)
        && (name != "hosts.yml" || path.contains("/gh/"))
        && (!name.starts_with("shadow")
            || path.ends_with("/etc/shadow")
            || path.ends_with("/etc/shadow-"));
    // A pattern is a secret if all it can name are secrets, not because it could match one: `.env*` and
    // `id_*` are, `*.json` is not.
    let fixed: String = name.chars().take_while(|c| !matches!(c, '*' | '?' | '[')).collect();
    let letters = name.chars().filter(char::is_ascii_alphanumeric).count();
    let telling = fixed.len() >= 3
        || (fixed.starts_with('.') && letters > 0)
        || name.starts_with(['?', '[']) && letters >= 3;
    let hidden = name.contains(['*', '?', '['])
        && telling
        && (matches_glob(name, ".env")
            || SECRET_NAMES.iter().any(|secret| matches_glob(name, secret)));
    if hidden {
        return true;
    }
    let by_extension = [
        ".pem",
        ".key",
        ".p12",
        ".pfx",
        ".jks",
        ".keystore",
        ".kdbx",
        ".tfstate",
        ".ovpn",
        ".keytab",
        ".ppk",
        ".agekey",
        ".tfstate.backup",
        ".keychain-db",
    ]
    .iter()
    .any(|e| name.len() > e.len() && name.ends_with(e));
    let placed = SECRET_PLACE_MARKS.iter().any(|mark| path.contains(mark))
        && SECRET_PLACES.iter().any(|place| path.contains(place));
    let whole = ["/.ssh", "/.gnupg", "/.aws", "/.kube", "/.azure", "/.password-store", "/.mozilla"]
        .iter()
        .any(|place| path.ends_with(place));
    named || by_extension || placed || whole
}

/// Whether the path is a whole disk or the memory, in which everything is that the machine has.
pub(crate) fn holds_everything(text: &str) -> bool {
    let path = normal(text);
    if path == "/proc/kcore" {
        return true;
    }
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    let after = |kind: &str| device.strip_prefix(kind).and_then(|rest| rest.chars().next());
    let lettered = ["sd", "hd", "vd", "xvd"]
        .iter()
        .filter_map(|kind| after(kind))
        .any(|next| next.is_ascii_lowercase() || matches!(next, '*' | '?' | '['));
    let numbered = ["nvme", "mmcblk", "md", "dm-", "disk", "rdisk", "nbd", "zd"]
        .iter()
        .filter_map(|kind| after(kind))
        .any(|next| next.is_ascii_digit() || matches!(next, '*' | '?' | '['));
    lettered
        || numbered
        || device.starts_with("mapper/")
        || device.starts_with("disk/by-")
        || matches!(device, "mem" | "kmem" | "port")
}

/// Whether a file name matches a pattern of `*`, `?` and `[…]`; brackets match any character.
pub(crate) fn matches_glob(pattern: &str, name: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = rest.as_str().trim_start_matches('*');
            name.char_indices().any(|(at, _)| matches_glob(rest, &name[at..])) || rest.is_empty()
        }
        Some(c) => {
            let tail = match c {
                '[' => rest.as_str().split_once(']').map_or("", |(_, tail)| tail),
                _ => rest.as_str(),
            };
            name.chars().next().is_some_and(|first| {
                (c == first || matches!(c, '?' | '['))
                    && matches_glob(tail, &name[first.len_utf8()..])
            })
        }
    }
}

/// Whether a variable's name says that its value is a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    [
        "SECRET",
        "TOKEN",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "APIKEY",
        "PRIVATE_KEY",
        "ACCESS_KEY",
        "CREDENTIAL",
    ]
    .iter()
    .any(|part| upper.contains(part))
}

const SYSTEM: [&str; 17] = [
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/boot",
    "/sys",
    "/proc",
    "/root",
    "/var",
    "/opt",
    "/System",
    "/Library",
    "/Applications",
    "/run",
    "/srv",
];

const STARTUP: [&str; 30] = [
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".bash_logout",
    ".zlogout",
    ".pam_environment",
    ".login",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".vimrc",
    ".tmux.conf",
    ".inputrc",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    "authorized_keys",
    "crontab",
    ".envrc",
];

/// Places whose files are run when somebody logs in or something starts.
const STARTUP_PLACES: [&str; 15] = [
    "/.config/autostart/",
    "/.config/systemd/",
    "/.config/environment.d/",
    "/.config/fish/",
    "/.config/nushell/",
    "/.config/powershell/",
    "/.config/git/config",
    "/.config/plasma-workspace/",
    "/.local/share/systemd/",
    "/.local/share/dbus-1/services/",
    "/Library/LaunchAgents/",
    "/Library/LaunchDaemons/",
    "/.oh-my-zsh/",
    "/.bashrc.d/",
    "/.zshrc.d/",
];

/// Why writing to the path, or removing it, is worse than an ordinary change.
pub(crate) fn danger_of_writing(text: &str) -> Option<Does> {
    if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") {
        return Some(UPLOAD);
    }
    let path = normal(text);
    if path.starts_with("/dev/") {
        let safe = is_harmless_device(&path) || path.starts_with("/dev/shm/");
        return (!safe).then_some(DEVICE);
    }
    if path == "/" {
        return Some(DESTROY);
    }
    let under =
        |root: &str| path == root || path.strip_prefix(root).is_some_and(|r| r.starts_with('/'));
    if SYSTEM.into_iter().any(under) && !under("/var/tmp") && !path.starts_with("/var/folders/") {
        return Some(SERVICE);
    }
    let rooted = format!("/{path}/");
    if STARTUP_PLACES.iter().any(|place| rooted.contains(place)) {
        return Some(SERVICE);
    }
    let parts: Vec<&str> = path.split('/').collect();
    if parts.iter().any(|part| STARTUP.contains(part)) {
        return Some(if is_secret(text) { SECRET } else { SERVICE });
    }
    let git = parts.iter().position(|part| *part == ".git");
    if let Some(at) = git
        && matches!(
            parts.get(at + 1),
            None | Some(&("config" | "hooks" | "info" | "refs" | "objects" | "HEAD"))
        )
    {
        return Some(SERVICE);
    }
    None
}

/// Folders of a home whose files are somebody's own and in no repository.
const PERSONAL: [&str; 15] = [
    "Desktop",
    "Documents",
    "Downloads",
    "Music",
    "Pictures",
    "Photos",
    "Videos",
    "Movies",
    "Public",
    "Library",
    "Dropbox",
    "OneDrive",
    "Google Drive",
    "iCloud Drive",
    "Nextcloud",
];

/// Whether a path is in a folder where a user keeps files of which there is no other copy.
pub(crate) fn is_personal(text: &str) -> bool {
    let path = normal(text);
    let mut parts = path.trim_start_matches('/').split('/');
    let in_home = match parts.next() {
        Some("~" | "$HOME" | "${HOME}") => true,
        Some("home" | "Users") if path.starts_with('/') => parts.next().is_some(),
        _ => false,
    };
    in_home && parts.next().is_some_and(|folder| PERSONAL.contains(&folder))
}

/// Whether the path is a root, a home, or all of the current or a parent directory.
pub(crate) fn is_everything(text: &str) -> bool {
    let bare = text.trim_end_matches('*').trim_end_matches('/');
    let bare = bare.replace(['{', '}', '"'], "");
    matches!(
        bare.as_str(),
        "" | "~" | "$HOME" | "." | ".." | "~root" | "/." | "$HOME/." | "/home" | "/Users" | "$PWD"
    ) && !text.is_empty()
        || normal(text) == "/"
        || text.starts_with("../..")
}

#[cfg(test)]
mod tests {
    use super::{SECRET_PLACE_MARKS, SECRET_PLACES, is_secret};

    #[test]
    fn every_place_of_secrets_has_a_mark_by_which_it_is_found() {
        for place in SECRET_PLACES {
            assert!(SECRET_PLACE_MARKS.iter().any(|mark| place.contains(mark)), "{place}");
            assert!(is_secret(&format!("/home/u{place}/x")) || is_secret(place), "{place}");
        }
    }
}
