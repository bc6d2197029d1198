//! `--lint`: all advice on the DaemonSets, also what bears on no cause now.

use std::io::{self, Write};

use super::Style;
use super::layout::{Span, span};
use super::palette::Role;
use super::screen::Screen;
use super::text::tag;
use super::words::count;
use crate::cause::Evidence;
use crate::lint::Advice;
use crate::report::Report;

/// The advice's code behind its weight: a warning if it bears on what is wrong now.
fn mark(advice: &Advice) -> Span {
    let (role, symbol) = if advice.bears_on.is_empty() { (Role::Plain, "·") } else { (Role::Warning, "!") };
    span(role, format!("{symbol} {}", advice.code))
}

/// Writes the advice of every report.
pub fn render(out: &mut impl Write, reports: &[Report], style: &Style) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    for (i, report) in reports.iter().enumerate() {
        if i > 0 {
            screen.blank()?;
        }
        let sum = if report.advice.is_empty() { "no advice".to_string() } else { count(report.advice.len(), "piece") + " of advice" };
        let name = format!("{}/{}", report.daemon_set.namespace, report.daemon_set.name);
        screen.wrapped(0, 2, &[span(Role::Plain, "DaemonSet "), span(Role::Strong, name), span(Role::Plain, format!(": {sum}"))])?;
        for advice in &report.advice {
            screen.wrapped(0, 4, &[mark(advice), span(Role::Plain, format!("  {}", advice.message))])?;
            // Of the DaemonSet itself the field is enough; what was counted has no place.
            let own = format!("DaemonSet/{}/{}", report.daemon_set.namespace, report.daemon_set.name);
            let place = |e: &Evidence| if e.object == own { e.field.clone() } else { format!("{} {}", e.object, e.field) };
            let places: Vec<String> = advice.evidence.iter().filter(|e| !e.field.contains(' ')).map(place).collect();
            if !places.is_empty() {
                screen.wrapped(4, 6, &[span(Role::Faint, format!("seen: {}", places.join("; ")))])?;
            }
            if !advice.bears_on.is_empty() {
                screen.wrapped(4, 6, &[span(Role::Plain, format!("bears on {}", advice.bears_on.join(", ")))])?;
            }
            for remedy in &advice.remedies {
                let tag = tag(remedy.kind).map_or(String::new(), |t| format!(" ({t})"));
                screen.wrapped(4, 6, &[span(Role::Plain, format!("→ {}", remedy.title)), span(Role::Faint, tag)])?;
                if let Some(command) = &remedy.command {
                    screen.command(6, command)?;
                }
            }
        }
    }
    Ok(())
}
