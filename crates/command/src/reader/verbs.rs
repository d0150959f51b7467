//! Command lines that name a thing and then what to do with it: `doctl compute droplet list`.
//!
//! There are hundreds of them, and their verbs are the same. Where a table has no row for a
//! sub-command, the verb decides: what lists and shows only reads, with options that such commands
//! share; what deletes and destroys is what the row says of destroying; any other verb changes
//! something; and a sentence without a verb is unknown.

use crate::hash::HashMap;
use std::sync::LazyLock;

use crate::argv::Options;
use crate::effect::{Does, RUN, SECRET, UNKNOWN};
use crate::risk::Risk;
use crate::row::Row;
use crate::spec;
use crate::walk::Walk;
use crate::word::Word;

/// What only looks.
const READS: &str = "list ls show describe desc info status view inspect get search find version history log logs diff validate verify lint explain ps top stats stat tree count query whoami current events outdated why print preview summary details outputs output read tail head lookup batch-get transact-get admin-get admin-list simulate estimate test-dns-answer scan wait peek usage about lsl lsf lsd lsjson size locate which whatis contents depends rdepends dependents requires provides policy list-all listremotes health ping overview report cat inventory showmigrations owns leaves what-provides whatprovides changelog balance balances blame annotate exists listfilesystems isexcluded latestbackup listlocalsnapshots machinedirectory calculatedrift destinationinfo uniquesize getenv dumpstate managername managerpid manageruid variant procinfo plist domains imageinfo isencrypted checksum plugins activity identify pids md5sum sha1sum hashsum help audit lookup-events access agenda stacks buildinfo rpminfo taskinfo hostinfo taginfo userinfo configs-list sessions-list list-available list-dbs list-monitors list-builtin paths quorum_status cluster_status environment hist showvminfo showmediuminfo leaderboard introspect fileinfo encinfo dependencies dependencytree listening calendar due ready burndown digest manifest catalog avail";
/// Things whose name alone lists them, at the end of a sentence.
const LISTS: &str = "apps nodes members peers routes files releases versions servers countries groups streams models projects profiles backups deployments environments vms snapshots regions targets pipelines accounts repos repositories plugins dialects themes fonts services sessions branches devices boards frameworks images containers volumes networks zones sites users teams orgs organizations jobs builds workflows issues holdings marketplace catalog generations tools linters alarms listeners diagnostics levels listening streams quotas functions recipes submissions topics queues commands outputs windows workspaces monitors clients domains pending chats contacts transactions";
/// What changes something.
const WRITES: &str = "fix global local default mkdir sethostname register-token create add new init set update edit apply start stop restart enable disable detach rotate maintenance on off halt failover demote undo revert install upgrade pull push clone import export save deploy publish upload download put post patch modify configure attach associate register tag untag label annotate-set resize scale move mv rename copy cp sync send open login logout auth connect build up resume suspend pause unpause restore rollback promote approve merge close reopen comment assign link unlink mount unmount allocate authorize request submit schedule trigger retry rerun fork mark watch generate sign encrypt decrypt migrate seed boot reboot shutdown power-on power-off poweroff snapshot backup clean gc compact refresh fetch switch use select activate deactivate lock unlock pin unpin hold unhold bump release tunnel forward expose unexpose join leave subscribe unsubscribe grant start-query-execution inject checkout commit stash squash rebase abandon describe-set load unload reload write append replace convert transfer receive-message assume";
/// What changes so much that to something shared it is as bad as taking it away.
const UPSETS: &str = "disable detach stop restart suspend rollback rotate rename scale transfer undo revert maintenance halt poweroff power-off shutdown reboot failover demote";
/// What takes something away for good.
const DESTROYS: &str = "delete del remove rm destroy drop purge prune terminate wipe reset uninstall deregister revoke erase flush clear nuke teardown down decommission undeploy unregister empty truncate kill cancel force-unlock forget expire rb reap zap dispose obliterate discard detach-all deprovision unpublish yank batch-delete batch-write schedule-key-deletion disassociate rmi undefine unset";
/// What runs something else.
const RUNS: &str =
    "run exec execute ssh shell console invoke proxy attach-session test eval script up bootstrap";
/// Words that are as often the name of a thing.
const NOUNS: &str = "log logs history events status config env test key run image export import backup snapshot release releases output outputs build deploy connect policy tag label lock doc docs version versions check apps monitor health account record schedule restore sign auth build job view size cat usage stat stats nodes files routes active filter inventory console proxy script tunnel link search find report balance route load files tail read top tree summary details overview members peers facts locate versions";
/// Looking at one of these shows it.
const SECRET_NOUNS: [&str; 16] = [
    "secret",
    "password",
    "token",
    "credential",
    "parameter",
    "private-key",
    "authorization",
    "kubeconfig",
    "login",
    "passwd",
    "access-key",
    "apikey",
    "api-key",
    "key-string",
    "publishing-profile",
    "access-details",
];
/// Verbs that show the value of a thing, not only its name.
const REVEALS: &str = "get show view read print export access lookup reveal decrypt assume batch-get fetch output outputs cat create-access-key";

/// Options that commands of this kind share and that only change what is shown.
const SHARED: &str = "aAlLvqjJtrRgGHkKmMn:NpPSTU1 --all --json --quiet --verbose --format= --filter= --filters= --sort= --sort-by= --order= --limit= --output@ --no-color --color= --no-headers --no-header --long --short --wide --name= --names --namespace= --project= --region= --zone= --location= --profile= --tree --depth= --max= --max-results= --page= --per-page= --page-size= --columns= --column= --fields= --field= --status= --state= --type= --tag= --tags --tags= --since= --until= --from= --to= --tail= --lines= --follow --no-pager --pretty --raw --yaml --csv --table --plain --user= --org= --organization= --team= --repo= --branch= --app= --environment= --cluster= --host= --port= --local --remote --global --installed --outdated --available --details --detailed --full --count --id= --ids= --label= --labels= --selector= --query= --context= --debug --no-trunc --show-id --show-all --no-truncate --reverse --recursive --offline --online --latest --timestamps --num= --number= --stack= --workspace= --group= --resource-group= --subscription= --server= --node= --owner= --author= --search= --exact --strict --human --human-readable --no-legend --only-ids --include= --exclude= --depth --level= --verbosity= --account= --vault-name= --assignee= --start= --end= --start-time= --end-time= --active --inactive --enabled --disabled --running --stopped --archived --public --private --compact --oneline --patch --git --stat --summary --revision= --revisions= --no-graph --template= --limit --from --to --description --size --units= --si --bytes --versions --show-versions --cursor= --next-token= --max-items= --starting-token= --only= --no-emoji --ascii --utf8 --keys --values --jq= --jmespath= --offset= --period= --depth --distro= --arch= --platform= --channel= --brief --show-urls --show-secrets= --prefix= --delimiter= --case-sensitive --ignore-case --fuzzy --regex --regexp --dry-run --check --date= --time --user --system --runtime";

/// Each verb with its kind; where a word is in several lists, the first of these decides.
static VERBS: LazyLock<HashMap<&str, Verb>> = LazyLock::new(|| {
    let lists = [
        (DESTROYS, Verb::Destroys),
        (READS, Verb::Reads),
        (RUNS, Verb::Runs),
        (WRITES, Verb::Writes),
    ];
    let mut verbs = HashMap::default();
    for (list, kind) in lists {
        for word in list.split(' ') {
            verbs.entry(word).or_insert(kind);
        }
    }
    verbs
});

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

/// What kind of verb a word is. `describe-instances` is `describe`.
fn kind(word: &str) -> Option<Verb> {
    let lower = word.to_ascii_lowercase();
    let of = |word: &str| VERBS.get(word).copied();
    // `apps:destroy` is what its last part says, `delete-bucket` what its first part says.
    let said = lower.rsplit(':').next().unwrap_or(&lower);
    let parts: Vec<&str> = said.split(['-', '_']).collect();
    let two = parts.get(..2).map(|two| two.join("-"));
    of(said).or_else(|| two.as_deref().and_then(of)).or_else(|| of(parts[0])).or_else(|| {
        let destroys = parts.iter().any(|part| of(part) == Some(Verb::Destroys));
        destroys.then_some(Verb::Destroys)
    })
}

fn upsets(word: &str) -> bool {
    let last = word.rsplit(':').next().unwrap_or(word);
    among(UPSETS, last)
        || among(UPSETS, last.split('-').next().unwrap_or(last))
        || word.ends_with(":on")
}

/// Whether a program that nobody knows is told to take something away: `frob delete all`.
pub(crate) fn tells_to_destroy(args: &[Word]) -> bool {
    const PLAINLY: &str = "delete destroy purge drop wipe nuke obliterate erase unregister terminate dropdatabase drop-database repo-delete delete-all deleteall force-delete";
    let words = args.iter().map_while(Word::exact).filter(|word| !word.starts_with('-')).take(6);
    words.map(str::to_ascii_lowercase).any(|word| {
        let last = word.rsplit(':').next().unwrap_or(&word);
        among(PLAINLY, last)
            || last.split('-').next().is_some_and(|first| {
                last.contains('-') && among("delete destroy purge drop wipe terminate", first)
            })
    })
}

/// Whether a word is the name of something that is done, as one of a sub-command would be.
pub(crate) fn acts(word: &str) -> bool {
    let verb = word.split_once('-').map_or(word, |(verb, _)| verb);
    let does = |word: &str| [WRITES, DESTROYS, RUNS].into_iter().any(|verbs| among(verbs, word));
    !among(NOUNS, word) && (does(word) || does(verb) && !among(NOUNS, verb))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Reads,
    Writes,
    Runs,
    Destroys,
}

impl Walk {
    /// Judges by the verb among the sub-commands. `verbs` is what reading, changing and destroying is.
    pub(crate) fn by_verb(
        &mut self,
        row: &'static Row,
        verbs: [Does; 3],
        name: &str,
        args: &[Word],
    ) {
        let options = Options::of(row, args);
        let words = leading_words(row, args);
        // Where things are not named first, the first word is the verb or there is none.
        let reach = if row.things_first { words.len() } else { words.len().min(1) };
        let shown = words.iter().position(|it| matches!(*it, "show" | "describe" | "inspect"));
        let is_verb = |at: usize| {
            let word = words.get(at)?;
            let lists = at + 1 == words.len() && at < reach && among(LISTS, word);
            let verb = if lists { Some(Verb::Reads) } else { kind(word) };
            // What is shown or described is a thing, whatever its name.
            let is_thing = shown.is_some_and(|shown| at > shown)
                && matches!(verb, Some(Verb::Writes | Verb::Runs));
            verb.filter(|verb| !is_thing && (at < reach || *verb != Verb::Reads))
        };
        // `logs list` lists logs; of several verbs the worst decides.
        let certain = |at: &usize| is_verb(*at).is_some() && !among(NOUNS, words[*at]);
        let worst = |at: &usize| is_verb(*at).map_or(0, |verb| verb as usize);
        let found = (0..words.len()).filter(certain).max_by_key(worst);
        let found = found
            .or_else(|| (0..words.len()).filter(|at| is_verb(*at).is_some()).max_by_key(worst));
        let Some(at) = found else {
            let what = words.first().map_or(name.to_owned(), |word| format!("{name} {word}"));
            self.find(row.other.unwrap_or(UNKNOWN), name, what);
            return;
        };
        let what = format!("{name} {}", words[..=at].join(" "));
        let verb = is_verb(at);
        let does = match verb {
            Some(Verb::Reads) => verbs[0],
            Some(Verb::Writes) if upsets(words[at]) && verbs[2].risk == Risk::Dangerous => verbs[2],
            Some(Verb::Writes) | None => verbs[1],
            Some(Verb::Runs) => {
                if verbs[1].risk > RUN.risk {
                    verbs[1]
                } else {
                    RUN
                }
            }
            Some(Verb::Destroys) => verbs[2],
        };
        // The pages of `universal-login` hold no secret.
        let said = words[..=at].join(" ").to_ascii_lowercase().replace("universal-login", "");
        let reveals = words[at].split(['-', ':']).next().is_some_and(|verb| among(REVEALS, verb))
            || words[at].starts_with("batch-get")
            || among(REVEALS, words[at]);
        let keys = name.starts_with("az")
            && words[..=at].iter().any(|word| matches!(*word, "keys" | "list-keys"));
        // What is known about a secret is not the secret.
        let about = ["policy", "last-used", "info", "random", "protection", "rotation"]
            .iter()
            .any(|part| words[at].contains(part) || said.contains(part) && *part == "protection");
        if reveals && !about && SECRET_NOUNS.iter().any(|noun| said.contains(noun))
            || said.contains("credential") && !about
            || said.contains("connection-string") && !said.starts_with("sql ")
            || said.contains("publishing-profile")
            || said.contains("describe-user-pool-client")
            || keys
        {
            self.find(SECRET, name, what.clone());
        }
        self.find(does, name, what.clone());
        if verb != Some(Verb::Reads) {
            return;
        }
        self.late_rules(row, name, args);
        // An operand that destroys after a verb that reads is not a sentence we know.
        if words
            .get(at + 1..)
            .unwrap_or(&[])
            .iter()
            .any(|word| kind(word) == Some(Verb::Destroys) && among(DESTROYS, word))
        {
            self.find(UNKNOWN, name, what.clone());
        }
        let shared = Row { options: SHARED, ..*row };
        let known = |option: &str| crate::argv::takes(row, option).is_some();
        if let Some(option) = Options::of(&shared, args).outside_both(&shared, &known) {
            self.find(UNKNOWN, name, format!("{what} {option}"));
        }
        if does.risk == Risk::ReadOnly && options.may_hide_option() {
            self.find(UNKNOWN, name, format!("{what} with an argument only known at run time"));
        }
    }
}

/// The words before the first option that could take one of them for its value.
fn leading_words<'a>(row: &Row, args: &'a [Word]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(text) = args.get(at).and_then(Word::exact) {
        at += 1;
        if !text.starts_with('-') {
            words.push(text);
            continue;
        }
        let name = text.split('=').next().unwrap_or(text);
        match crate::argv::takes(row, name) {
            Some(spec::Takes::Value | spec::Takes::Format) if name == text => at += 1,
            Some(spec::Takes::Value | spec::Takes::Format | spec::Takes::Nothing) => {}
            // After the first word, an option may be any parameter.
            _ => break,
        }
    }
    words.truncate(5);
    words
}
