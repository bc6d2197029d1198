//! What kubectl is told on `kubectl ds-doctor <TAB>`: which kind of word is being typed, and which
//! of the known words fit. Who reads the cluster is not decided here.
//!
//! kubectl runs `kubectl_complete-ds_doctor` with the words so far, the last of them incomplete and
//! maybe empty, and reads candidates from standard output, a line each, then a directive (cobra's
//! `ShellCompDirective`, k8s.io/kubectl v0.37.2 `pkg/cmd/plugin/plugin_completion.go`).

use std::collections::BTreeMap;

use clap::{Arg, Command};

/// No file names, please.
const NO_FILES: &str = ":4";
/// Whatever the shell does by itself: file names.
const SHELL: &str = ":0";

/// What the word at the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A DaemonSet's name, with what is put before it (`ds/`).
    DaemonSet(String),
    /// A namespace.
    Namespace,
    /// A node.
    Node,
    /// A context of the kubeconfig.
    Context,
    /// A cluster of the kubeconfig.
    Cluster,
    /// A user of the kubeconfig.
    User,
    /// One of these, with what is told of each.
    Word(Vec<(String, String)>),
    /// A file.
    File,
    /// Something that nobody can guess.
    Free,
}

/// A command line that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// What the last word is.
    pub kind: Kind,
    /// What is put before each candidate: `--namespace=`, for the shell replaces the whole word.
    pub before: String,
    /// What is typed of it.
    pub prefix: String,
    /// The values of the flags before it, by long name.
    pub flags: BTreeMap<String, Vec<String>>,
    /// The names before it.
    pub names: Vec<String>,
}

impl Typed {
    /// The last value of a flag.
    pub fn flag(&self, long: &str) -> Option<&str> {
        self.flags.get(long).and_then(|values| values.last()).map(String::as_str)
    }
}

/// Reads the words after `kubectl ds-doctor`. `codes` are the words that `--explain` takes.
pub fn read(command: &Command, codes: &[(String, String)], words: &[String]) -> Typed {
    let (last, done) = match words.split_last() {
        Some((last, done)) => (last.as_str(), done),
        None => ("", &[][..]),
    };
    let mut typed = Typed { kind: Kind::Free, before: String::new(), prefix: last.into(), flags: BTreeMap::new(), names: Vec::new() };
    let mut open: Option<&Arg> = None;
    let mut only_names = false;
    for word in done {
        if let Some(arg) = open.take().filter(|arg| takes(arg, word)) {
            typed.flags.entry(long(arg)).or_default().push(word.clone());
        } else if only_names || !word.starts_with('-') || word == "-" {
            typed.names.push(bare(word).into());
        } else if word == "--" {
            only_names = true;
        } else {
            match flag(command, word) {
                Some((arg, Some(value))) => typed.flags.entry(long(arg)).or_default().push(value.into()),
                Some((arg, None)) if takes_value(arg) => open = Some(arg),
                Some((arg, None)) => {
                    typed.flags.entry(long(arg)).or_default();
                }
                None => {}
            }
        }
    }
    if let Some(arg) = open.filter(|arg| takes(arg, last)) {
        typed.kind = value_of(arg, codes);
    } else if !only_names && last.starts_with('-') {
        match last.split_once('=') {
            Some((name, value)) => {
                typed.kind = flag(command, name).map_or(Kind::Free, |(arg, _)| value_of(arg, codes));
                typed.before = format!("{name}=");
                typed.prefix = value.into();
            }
            None => typed.kind = Kind::Word(flags(command)),
        }
    } else {
        let kind = last.split_once('/').map_or("", |(kind, _)| kind);
        let before = if kind.is_empty() { String::new() } else { format!("{kind}/") };
        typed.prefix = bare(last).into();
        let elsewhere = typed.flags.contains_key("filename") || typed.flags.contains_key("explain");
        typed.kind = if elsewhere { Kind::Free } else { Kind::DaemonSet(before) };
    }
    typed
}

/// The answer for kubectl: candidates that fit, sorted, then the directive. `known` are the names
/// that the kind calls for; of a [`Kind::Word`] its own words are taken.
pub fn answer(typed: &Typed, known: &[String]) -> String {
    let mut lines: Vec<String> = match &typed.kind {
        Kind::File => return format!("{SHELL}\n"),
        Kind::Free => Vec::new(),
        Kind::Word(words) => words
            .iter()
            .filter(|(word, _)| word.starts_with(&typed.prefix))
            .map(|(word, about)| if about.is_empty() { word.clone() } else { format!("{word}\t{about}") })
            .collect(),
        Kind::DaemonSet(before) => known
            .iter()
            .filter(|name| name.starts_with(&typed.prefix) && !typed.names.contains(name))
            .map(|name| format!("{before}{name}"))
            .collect(),
        _ => known.iter().filter(|name| name.starts_with(&typed.prefix)).cloned().collect(),
    };
    for line in &mut lines {
        // A candidate is one line, whatever a file or a server put into a name.
        *line = line.chars().filter(|c| *c == '\t' || !c.is_control()).collect();
    }
    lines.sort_unstable();
    lines.dedup();
    let mut text: String = lines.iter().map(|line| format!("{}{line}\n", typed.before)).collect();
    text.push_str(NO_FILES);
    text.push('\n');
    text
}

/// A name without `ds/`.
fn bare(word: &str) -> &str {
    word.split_once('/').map_or(word, |(_, name)| name)
}

fn long(arg: &Arg) -> String {
    arg.get_long().unwrap_or_else(|| arg.get_id().as_str()).into()
}

/// The flag that a word is, and the value that is written in the same word.
fn flag<'c, 'w>(command: &'c Command, word: &'w str) -> Option<(&'c Arg, Option<&'w str>)> {
    let find = |fits: &dyn Fn(&Arg) -> bool| command.get_arguments().find(|arg| fits(arg));
    if let Some(rest) = word.strip_prefix("--") {
        let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
        let named = |arg: &Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name));
        return find(&named).map(|arg| (arg, value));
    }
    let mut rest = word.strip_prefix('-')?.char_indices();
    // Short flags may be written together, `-Ao json`; the first that takes a value takes the rest.
    let mut last = None;
    while let Some((_, letter)) = rest.next() {
        let arg = find(&|arg: &Arg| arg.get_short() == Some(letter))?;
        let value = rest.as_str();
        if takes_value(arg) && !value.is_empty() {
            return Some((arg, Some(value.strip_prefix('=').unwrap_or(value))));
        }
        last = Some((arg, None));
    }
    last
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_action().takes_values()
}

/// True if the next word is the flag's value: always, or, where the value may be left out, unless
/// it is a flag; never where only `--flag=value` is understood.
fn takes(arg: &Arg, word: &str) -> bool {
    !arg.is_require_equals_set() && (arg.get_num_args().is_none_or(|n| n.min_values() > 0) || !word.starts_with('-'))
}

fn value_of(arg: &Arg, codes: &[(String, String)]) -> Kind {
    match long(arg).as_str() {
        "namespace" => Kind::Namespace,
        "node" => Kind::Node,
        "context" => Kind::Context,
        "cluster" => Kind::Cluster,
        "user" => Kind::User,
        "explain" => Kind::Word(codes.to_vec()),
        "kubeconfig"
        | "snapshot"
        | "save-snapshot"
        | "filename"
        | "what-if"
        | "certificate-authority"
        | "client-certificate"
        | "client-key" => Kind::File,
        _ => {
            let values = arg.get_possible_values();
            if values.is_empty() {
                return Kind::Free;
            }
            let word = |v: &clap::builder::PossibleValue| (v.get_name().to_string(), v.get_help().map(first_line).unwrap_or_default());
            Kind::Word(values.iter().filter(|v| !v.is_hide_set()).map(word).collect())
        }
    }
}

fn flags(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), arg.get_help().map(first_line).unwrap_or_default()))).collect()
}

fn first_line(text: &clap::builder::StyledStr) -> String {
    text.to_string().lines().next().unwrap_or_default().trim().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ArgAction;

    fn command() -> Command {
        Command::new("ds-doctor")
            .arg(Arg::new("names").num_args(0..))
            .arg(Arg::new("namespace").short('n').long("namespace").help("Where to look\nand more"))
            .arg(Arg::new("all").short('A').long("all-namespaces").action(ArgAction::SetTrue))
            .arg(Arg::new("node").long("node").action(ArgAction::Append))
            .arg(Arg::new("output").short('o').long("output").value_parser(["text", "json"]))
            .arg(Arg::new("explain").long("explain").num_args(0..=1))
            .arg(Arg::new("context").long("context"))
            .arg(Arg::new("token").long("token"))
            .arg(Arg::new("filename").short('f').long("filename"))
            .arg(Arg::new("insecure").long("insecure").num_args(0..=1).require_equals(true))
            .arg(Arg::new("now").long("now").hide(true))
    }

    fn typed(words: &[&str]) -> Typed {
        let codes = vec![("NodePorts".into(), String::new())];
        read(&command(), &codes, &words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn knows_what_is_typed() {
        let ds = |before: &str| Kind::DaemonSet(before.into());
        let formats = Kind::Word(vec![("text".into(), String::new()), ("json".into(), String::new())]);
        for (words, kind, before, prefix) in [
            (&[][..], ds(""), "", ""),
            (&["ag"], ds(""), "", "ag"),
            (&["ds/ag"], ds("ds/"), "", "ag"),
            (&["-n", "sys", ""], ds(""), "", ""),
            (&["-n"], Kind::Word(flags(&command())), "", "-n"),
            (&["-n", "s"], Kind::Namespace, "", "s"),
            (&["--namespace=s"], Kind::Namespace, "--namespace=", "s"),
            (&["-n=s"], Kind::Namespace, "-n=", "s"),
            (&["-An", "s"], Kind::Namespace, "", "s"),
            (&["-A", "a"], ds(""), "", "a"),
            (&["--node", "w"], Kind::Node, "", "w"),
            (&["--context", ""], Kind::Context, "", ""),
            (&["-o", "j"], formats.clone(), "", "j"),
            (&["--token", ""], Kind::Free, "", ""),
            (&["-f", ""], Kind::File, "", ""),
            (&["-f", "x.yaml", ""], Kind::Free, "", ""),
            (&["--explain", "N"], Kind::Word(vec![("NodePorts".into(), String::new())]), "", "N"),
            (&["--explain", "-o", "j"], formats, "", "j"),
            (&["--explain", "NodePorts", ""], Kind::Free, "", ""),
            (&["--insecure", "a"], ds(""), "", "a"),
            (&["--unknown", "a"], ds(""), "", "a"),
            (&["--", "-n"], ds(""), "", "-n"),
        ] {
            let have = typed(words);
            assert_eq!((have.kind, have.before.as_str(), have.prefix.as_str()), (kind, before, prefix), "{words:?}");
        }
    }

    #[test]
    fn keeps_the_flags_and_names_before() {
        let have = typed(&["ds/one", "-nsys", "--node", "a", "--node=b", "two", "-o=json", ""]);
        assert_eq!(have.names, ["one", "two"]);
        assert_eq!(have.flag("namespace"), Some("sys"));
        assert_eq!(have.flags["node"], ["a", "b"]);
        assert_eq!(have.flag("output"), Some("json"));
        assert_eq!(have.flag("context"), None);
    }

    #[test]
    fn answers_with_what_fits() {
        let known: Vec<String> = ["agent", "exporter", "agent-b", "a\nb"].map(String::from).to_vec();
        for (words, want) in [
            (&["ag"][..], "agent\nagent-b\n:4\n"),
            (&["agent", "ag"], "agent-b\n:4\n"),
            (&["ds/e"], "ds/exporter\n:4\n"),
            (&["--namespace=e"], "--namespace=exporter\n:4\n"),
            (&["-o", "j"], "json\n:4\n"),
            (&["--names"], "--namespace\tWhere to look\n:4\n"),
            (&["--no"], "--node\n:4\n"),
            (&["a"], "ab\nagent\nagent-b\n:4\n"),
            (&["-f", ""], ":0\n"),
            (&["--token", ""], ":4\n"),
        ] {
            assert_eq!(answer(&typed(words), &known), want, "{words:?}");
        }
    }
}
