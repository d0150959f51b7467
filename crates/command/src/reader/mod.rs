//! Programs whose arguments say more than options and operands.

mod ansible;
mod awk;
mod builtin;
mod calculator;
mod code;
mod date;
mod file;
mod find;
mod git;
mod jq;
mod menu;
mod sed;
mod server;
mod shell;
pub(crate) mod sql;
mod transfer;
pub(crate) mod verbs;

use crate::effect::READ;
use crate::row::{Reader, Row};
use crate::walk::Walk;
use crate::word::Word;

impl Walk {
    /// Hands the arguments to the reader the row names.
    pub(crate) fn read_by(&mut self, reader: Reader, row: &'static Row, name: &str, args: &[Word]) {
        match reader {
            Reader::Row => self.plain(row, name, args),
            Reader::Ansible => self.ansible(row, name, args),
            Reader::Awk => self.awk(name, args),
            Reader::Builtin => self.builtin(row, name, args),
            Reader::Chmod => self.chmod(row, name, args),
            Reader::Code => self.code(row, name, args),
            Reader::Curl => self.curl(row, name, args),
            Reader::Date => self.date(row, name, args),
            Reader::Dc => self.dc(row, name, args),
            Reader::Dd => self.dd(name, args),
            // Whatever its arguments are, they are printed or ignored.
            Reader::Echo => self.find(READ, name, name),
            Reader::Fd => self.fd(row, name, args),
            Reader::Find => self.find_program(name, args),
            Reader::Fzf => self.fzf(row, name, args),
            Reader::GhApi => self.gh_api(row, name, args),
            Reader::GitConfig => self.git_config(name, args),
            Reader::GitDiscard => self.git_discard(row, name, args),
            Reader::GitPush => self.git_push(row, name, args),
            Reader::Jq => self.jq(row, name, args),
            Reader::Kill => self.kill(name, args),
            Reader::Netcat => self.netcat(row, name, args),
            Reader::Redis => self.redis(name, args),
            Reader::Rm => self.rm(row, name, args),
            Reader::Sed => self.sed(row, name, args),
            Reader::Server => self.server(row, name, args),
            Reader::Sql => self.sql(name, args),
            Reader::Statements => self.other_statements(row, name, args),
            Reader::Tar => self.tar(row, name, args),
            Reader::Test => self.test(name, args),
            Reader::Wget => self.wget(row, name, args),
        }
    }
}
