//! Frameworks name what they do to a database in words of their own: `db:drop`, `migrate:fresh`.

/// Whether the arguments of a framework's command line drop or empty a database.
pub(crate) fn drops_database(name: &str, words: &[&str]) -> bool {
    const THINGS: [&str; 9] = [
        "db",
        "database",
        "schema",
        "migrate",
        "migration",
        "migrations",
        "ecto",
        "doctrine",
        "data",
    ];
    const ENDS: [&str; 13] = [
        "drop",
        "reset",
        "fresh",
        "flush",
        "purge",
        "dropall",
        "drop-all",
        "wipe",
        "truncate",
        "destroy",
        "refresh",
        "downgrade",
        "reset_db",
    ];
    let tool = matches!(
        name,
        "flyway"
            | "liquibase"
            | "alembic"
            | "django-admin"
            | "manage.py"
            | "prisma"
            | "sqlx"
            | "diesel"
            | "dbmate"
            | "goose"
            | "knex"
            | "hasura"
            | "supabase"
    );
    let is_thing = |word: &str| THINGS.iter().any(|it| it.eq_ignore_ascii_case(word));
    let is_end = |word: &str| ENDS.iter().any(|it| it.eq_ignore_ascii_case(word));
    let one = |word: &str| {
        let (first, rest) = word.split_once([':', '.']).unwrap_or_default();
        let last = rest.rsplit([':', '.']).next().unwrap_or_default();
        is_thing(first) && is_end(last) && !word.contains('/')
    };
    let two = |pair: &[&str]| is_thing(pair[0]) && is_end(pair[1]);
    let alone = |word: &&str| is_end(word) || (*word == "clean" && name == "flyway");
    let resets = words.contains(&"--force-reset")
        || words.contains(&"--all") && words.iter().any(|word| word.ends_with(":rollback"))
        || name == "truncate" && words.first().is_some_and(|it| it.eq_ignore_ascii_case("table"));
    let manage = words.first().is_some_and(|word| word.ends_with("manage.py"));
    resets
        || words.iter().any(|word| one(word))
        || (name != "docker" && words.windows(2).any(two))
        || (tool && words.iter().take(3).any(alone))
        || (manage && words.iter().skip(1).take(1).any(alone))
}
