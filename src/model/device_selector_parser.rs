//! Reads the part of CEL that device selectors are judged in.
//!
//! Upstream: the grammar of cel-go with the macros `has` and `cel.bind`.

use super::device_selector::{Expr, Method, Operator, Place, Unreadable, Value, Version};

/// How deep an expression may nest.
const DEPTH: usize = 40;

/// Reads an expression.
pub(super) fn parse(expression: &str) -> Result<Expr, Unreadable> {
    let mut parser = Parser { tokens: tokens(expression)?, at: 0, depth: 0, bound: Vec::new() };
    let expr = parser.or()?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(Unreadable(format!("{token:?} is not read"))),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Int(i64),
    Sign(&'static str),
}

const SIGNS: [&str; 19] = ["&&", "||", "==", "!=", "<=", ">=", ".?", "[?", "<", ">", "!", "(", ")", "[", "]", ".", ",", "-", "?"];

fn tokens(text: &str) -> Result<Vec<Token>, Unreadable> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '"' || first == '\'' {
            let (string, after) = quoted(rest, first)?;
            tokens.push(Token::Text(string));
            rest = after;
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
            let number = rest[..end].parse().map_err(|_| Unreadable(format!("{} is not a whole number", &rest[..end])))?;
            tokens.push(Token::Int(number));
            rest = &rest[end..];
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            // A letter before a quote makes another kind of string.
            if rest[end..].starts_with(['"', '\'']) {
                return Err(Unreadable("raw strings and bytes are not read".into()));
            }
            tokens.push(Token::Name(rest[..end].to_string()));
            rest = &rest[end..];
        } else {
            let sign = SIGNS.iter().find(|s| rest.starts_with(**s)).ok_or_else(|| Unreadable(format!("{first:?} is not read")))?;
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

fn quoted(text: &str, quote: char) -> Result<(String, &str), Unreadable> {
    let mut string = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => {
                let rest = &text[at + 1..];
                // Three quotes begin a long string.
                return if string.is_empty() && rest.starts_with(quote) {
                    Err(Unreadable("long strings are not read".into()))
                } else {
                    Ok((string, rest))
                };
            }
            '\\' => match chars.next() {
                Some((_, c)) if c == '\\' || c == '"' || c == '\'' => string.push(c),
                _ => return Err(Unreadable("an escape in a string is not read".into())),
            },
            c => string.push(c),
        }
    }
    Err(Unreadable("a string does not end".into()))
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Names that `cel.bind` gave to a domain's attributes or capacities.
    bound: Vec<(String, bool, String)>,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Result<Token, Unreadable> {
        let token = self.peek().cloned().ok_or_else(|| Unreadable("the expression ends early".into()))?;
        self.at += 1;
        Ok(token)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(s)) if *s == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), Unreadable> {
        if self.eat(sign) { Ok(()) } else { Err(Unreadable(format!("{sign:?} is missing"))) }
    }

    fn name(&mut self) -> Result<String, Unreadable> {
        match self.next()? {
            Token::Name(name) => Ok(name),
            token => Err(Unreadable(format!("{token:?} is not a name"))),
        }
    }

    fn text(&mut self) -> Result<String, Unreadable> {
        match self.next()? {
            Token::Text(text) => Ok(text),
            token => Err(Unreadable(format!("{token:?} is not a string"))),
        }
    }

    fn or(&mut self) -> Result<Expr, Unreadable> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Unreadable("the expression nests too deep".into()));
        }
        let mut expr = self.and()?;
        while self.eat("||") {
            expr = Expr::Or(Box::new(expr), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(expr)
    }

    fn and(&mut self) -> Result<Expr, Unreadable> {
        let mut expr = self.relation()?;
        while self.eat("&&") {
            expr = Expr::And(Box::new(expr), Box::new(self.relation()?));
        }
        Ok(expr)
    }

    fn relation(&mut self) -> Result<Expr, Unreadable> {
        let left = self.unary()?;
        let operator = match self.peek() {
            Some(Token::Sign("==")) => Operator::Equal,
            Some(Token::Sign("!=")) => Operator::NotEqual,
            Some(Token::Sign("<")) => Operator::Less,
            Some(Token::Sign("<=")) => Operator::LessOrEqual,
            Some(Token::Sign(">")) => Operator::Greater,
            Some(Token::Sign(">=")) => Operator::GreaterOrEqual,
            Some(Token::Name(name)) if name == "in" => {
                self.at += 1;
                return self.membership(left);
            }
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.unary()?;
        Ok(Expr::Compare(operator, Box::new(left), Box::new(right)))
    }

    /// What is behind `in`: a list, a domain's attributes, or all domains.
    fn membership(&mut self, left: Expr) -> Result<Expr, Unreadable> {
        if self.eat("[") {
            let mut list = Vec::new();
            while !self.eat("]") {
                list.push(self.unary()?);
                if !self.eat(",") {
                    self.expect("]")?;
                    break;
                }
            }
            return Ok(Expr::In(Box::new(left), list));
        }
        let Expr::Value(Value::Text(text)) = left else { return Err(Unreadable("only a string is looked for in a map".into())) };
        match self.map()? {
            Map::All(capacity) => Ok(Expr::HasDomain(capacity, text)),
            Map::Domain(capacity, domain) => Ok(Expr::Has(Place { capacity, domain, id: text })),
        }
    }

    fn unary(&mut self) -> Result<Expr, Unreadable> {
        if self.eat("!") {
            self.depth += 1;
            if self.depth > DEPTH {
                return Err(Unreadable("the expression nests too deep".into()));
            }
            let inner = self.unary()?;
            self.depth -= 1;
            return Ok(Expr::Not(Box::new(inner)));
        }
        if self.eat("-") {
            return match self.next()? {
                Token::Int(number) => Ok(Expr::Value(Value::Int(-number))),
                token => Err(Unreadable(format!("- before {token:?} is not read"))),
            };
        }
        let mut expr = self.primary()?;
        while self.eat(".") {
            let method = match self.name()?.as_str() {
                "startsWith" => Method::StartsWith,
                "endsWith" => Method::EndsWith,
                "contains" => Method::Contains,
                "compareTo" => Method::CompareTo,
                "isLessThan" => Method::IsLessThan,
                "isGreaterThan" => Method::IsGreaterThan,
                name => return Err(Unreadable(format!("{name} is not read"))),
            };
            self.expect("(")?;
            let argument = self.or()?;
            self.expect(")")?;
            expr = Expr::Method(method, Box::new(expr), Box::new(argument));
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Result<Expr, Unreadable> {
        match self.next()? {
            Token::Int(number) => Ok(Expr::Value(Value::Int(number))),
            Token::Text(text) => Ok(Expr::Value(Value::Text(text))),
            Token::Sign("(") => {
                let expr = self.or()?;
                self.expect(")")?;
                Ok(expr)
            }
            Token::Name(name) => match name.as_str() {
                "true" => Ok(Expr::Value(Value::Bool(true))),
                "false" => Ok(Expr::Value(Value::Bool(false))),
                "has" => self.has(),
                "cel" => self.bind(),
                "quantity" | "semver" => self.literal(&name),
                _ => {
                    self.at -= 1;
                    self.device()
                }
            },
            token => Err(Unreadable(format!("{token:?} is not read"))),
        }
    }

    fn literal(&mut self, kind: &str) -> Result<Expr, Unreadable> {
        self.expect("(")?;
        let text = self.text()?;
        self.expect(")")?;
        let value = if kind == "quantity" { text.parse().ok().map(Value::Quantity) } else { Version::read(&text).map(Value::Version) };
        value.map(Expr::Value).ok_or_else(|| Unreadable(format!("{text:?} is not a {kind}")))
    }

    fn has(&mut self) -> Result<Expr, Unreadable> {
        self.expect("(")?;
        let Map::Domain(capacity, domain) = self.map()? else { return Err(Unreadable("has() of a domain is not read".into())) };
        self.expect(".")?;
        let id = self.name()?;
        self.expect(")")?;
        Ok(Expr::Has(Place { capacity, domain, id }))
    }

    fn bind(&mut self) -> Result<Expr, Unreadable> {
        self.expect(".")?;
        if self.name()? != "bind" {
            return Err(Unreadable("only cel.bind is read".into()));
        }
        self.expect("(")?;
        let name = self.name()?;
        self.expect(",")?;
        let Map::Domain(capacity, domain) = self.map()? else { return Err(Unreadable("only a domain can be bound here".into())) };
        self.expect(",")?;
        self.bound.push((name, capacity, domain));
        let expr = self.or()?;
        self.bound.pop();
        self.expect(")")?;
        Ok(expr)
    }

    /// `device.driver`, or an attribute or capacity.
    fn device(&mut self) -> Result<Expr, Unreadable> {
        if let [Token::Name(device), Token::Sign("."), Token::Name(field), ..] = &self.tokens[self.at..]
            && device == "device"
        {
            let expr = match field.as_str() {
                "driver" => Some(Expr::Driver),
                "allowMultipleAllocations" => Some(Expr::AllowMultiple),
                _ => None,
            };
            if let Some(expr) = expr {
                self.at += 3;
                return Ok(expr);
            }
        }
        let Map::Domain(capacity, domain) = self.map()? else { return Err(Unreadable("a map is used as a value".into())) };
        let (optional, id) = if self.eat(".?") {
            (true, self.name()?)
        } else if self.eat("[?") {
            let id = self.text()?;
            self.expect("]")?;
            (true, id)
        } else if self.eat("[") {
            let id = self.text()?;
            self.expect("]")?;
            (false, id)
        } else {
            self.expect(".")?;
            (false, self.name()?)
        };
        let place = Place { capacity, domain, id };
        if !optional {
            return Ok(Expr::At(place));
        }
        self.expect(".")?;
        if self.name()? != "orValue" {
            return Err(Unreadable("an optional attribute without orValue is not read".into()));
        }
        self.expect("(")?;
        let other = self.or()?;
        self.expect(")")?;
        Ok(Expr::AtOr(place, Box::new(other)))
    }

    /// `device.attributes`, `device.attributes["domain"]`, the same of `capacity`, or a bound name.
    fn map(&mut self) -> Result<Map, Unreadable> {
        let name = self.name()?;
        if let Some((_, capacity, domain)) = self.bound.iter().rev().find(|(bound, _, _)| *bound == name) {
            return Ok(Map::Domain(*capacity, domain.clone()));
        }
        if name != "device" {
            return Err(Unreadable(format!("{name} is not read")));
        }
        self.expect(".")?;
        let capacity = match self.name()?.as_str() {
            "attributes" => false,
            "capacity" => true,
            field => return Err(Unreadable(format!("device.{field} is not read"))),
        };
        if !self.eat("[") {
            return Ok(Map::All(capacity));
        }
        let domain = self.text()?;
        self.expect("]")?;
        Ok(Map::Domain(capacity, domain))
    }
}

/// A map of the device: the domains of all attributes (or capacities), or one domain's.
enum Map {
    All(bool),
    Domain(bool, String),
}
