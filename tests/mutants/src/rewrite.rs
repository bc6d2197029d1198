//! Puts mutants into sources: `a == b` becomes `(on(17) ^ (a == b))`, and so on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Item, ReturnType, Type, UnOp, parse_quote};

/// What is told of one mutant, a line of `mutants.tsv`.
pub struct Mutant {
    pub id: u32,
    pub file: String,
    pub line: usize,
    pub function: String,
    pub what: String,
}

/// Rewrites these folders of `tree/src`; of the mutants in `without` nothing is put in. Returns how many there are.
pub fn all(tree: &Path, dirs: &[String], without: &BTreeSet<u32>) -> Result<usize, String> {
    let mut mutants = Vec::new();
    for dir in dirs {
        for file in sources(&tree.join("original/src").join(dir))? {
            let relative = file.strip_prefix(tree.join("original")).map_err(|e| e.to_string())?.to_path_buf();
            let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let mut tree_of_file = syn::parse_file(&text).map_err(|e| format!("{}: {e}", file.display()))?;
            let mut rewriter = Rewriter { file: relative.display().to_string(), mutants: &mut mutants, without, scope: Vec::new() };
            rewriter.visit_file_mut(&mut tree_of_file);
            fs::write(tree.join(&relative), prettyplease::unparse(&tree_of_file)).map_err(|e| e.to_string())?;
        }
    }
    let lines: String = mutants
        .iter()
        .filter(|m| !without.contains(&m.id))
        .map(|m| format!("{}\t{}:{}\t{}\t{}\n", m.id, m.file, m.line, m.function, m.what))
        .collect();
    fs::write(tree.join("mutants.tsv"), lines).map_err(|e| e.to_string())?;
    Ok(mutants.len() - without.len())
}

fn sources(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?.filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs")
            && !path.ends_with("tests.rs")
            && !path.to_string_lossy().ends_with("_tests.rs")
        {
            found.push(path);
        }
    }
    Ok(found)
}

struct Rewriter<'a> {
    file: String,
    mutants: &'a mut Vec<Mutant>,
    without: &'a BTreeSet<u32>,
    scope: Vec<String>,
}

impl Rewriter<'_> {
    /// A new mutant; `None` if it is to be left out.
    fn add(&mut self, span: Span, what: impl Into<String>) -> Option<u32> {
        let id = self.mutants.len() as u32 + 1;
        let (file, function, line) = (self.file.clone(), self.scope.join("::"), span.start().line);
        self.mutants.push(Mutant { id, file, line, function, what: what.into() });
        (!self.without.contains(&id)).then_some(id)
    }

    fn body(&mut self, signature: &syn::Signature, block: &mut syn::Block) {
        if signature.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        self.scope.push(signature.ident.to_string());
        visit_mut::visit_block_mut(self, block);
        let values = match &signature.output {
            ReturnType::Default => vec![quote!(())],
            ReturnType::Type(_, ty) => values(ty),
        };
        for value in values.into_iter().rev() {
            if let Some(id) = self.add(signature.span(), format!("replace body with {value}")) {
                block.stmts.insert(0, parse_quote! { if crate::mutant::on(#id) { return #value; } });
            }
        }
        self.scope.pop();
    }

    fn binary(&mut self, whole: &mut Expr) {
        let Expr::Binary(e) = &*whole else { return };
        let (l, r, span) = (e.left.clone(), e.right.clone(), e.op.span());
        match e.op {
            BinOp::Eq(_) | BinOp::Ne(_) => {
                let what = if matches!(e.op, BinOp::Eq(_)) { "== to !=" } else { "!= to ==" };
                if let Some(id) = self.add(span, what) {
                    *whole = parse_quote! { (crate::mutant::on(#id) ^ (#whole)) };
                }
            }
            BinOp::And(_) if !has_let(&l) && !has_let(&r) => {
                if let Some(id) = self.add(span, "&& to ||") {
                    *whole = parse_quote! { ({ let left: bool = #l; if left != crate::mutant::on(#id) { #r } else { left } }) };
                }
            }
            BinOp::Or(_) => {
                if let Some(id) = self.add(span, "|| to &&") {
                    *whole = parse_quote! { ({ let left: bool = #l; if left == crate::mutant::on(#id) { #r } else { left } }) };
                }
            }
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let others: [(&str, BinOp); 3] = match e.op {
                    BinOp::Lt(_) => [("<=", parse_quote!(<=)), ("==", parse_quote!(==)), (">", parse_quote!(>))],
                    BinOp::Le(_) => [("<", parse_quote!(<)), ("==", parse_quote!(==)), (">", parse_quote!(>))],
                    BinOp::Gt(_) => [(">=", parse_quote!(>=)), ("==", parse_quote!(==)), ("<", parse_quote!(<))],
                    _ => [(">", parse_quote!(>)), ("==", parse_quote!(==)), ("<", parse_quote!(<))],
                };
                self.instead(whole, &others, false);
            }
            BinOp::Add(_) => self.instead(whole, &[("-", parse_quote!(-)), ("*", parse_quote!(*))], false),
            BinOp::Sub(_) => self.instead(whole, &[("+", parse_quote!(+)), ("/", parse_quote!(/))], false),
            BinOp::Mul(_) => self.instead(whole, &[("+", parse_quote!(+)), ("/", parse_quote!(/))], false),
            BinOp::Div(_) => self.instead(whole, &[("%", parse_quote!(%)), ("*", parse_quote!(*))], false),
            BinOp::Rem(_) => self.instead(whole, &[("/", parse_quote!(/)), ("+", parse_quote!(+))], false),
            BinOp::BitAnd(_) => self.instead(whole, &[("|", parse_quote!(|)), ("^", parse_quote!(^))], false),
            BinOp::BitOr(_) => self.instead(whole, &[("&", parse_quote!(&)), ("^", parse_quote!(^))], false),
            BinOp::BitXor(_) => self.instead(whole, &[("&", parse_quote!(&)), ("|", parse_quote!(|))], false),
            BinOp::AddAssign(_) => self.instead(whole, &[("-=", parse_quote!(-=)), ("*=", parse_quote!(*=))], true),
            BinOp::SubAssign(_) => self.instead(whole, &[("+=", parse_quote!(+=)), ("/=", parse_quote!(/=))], true),
            BinOp::MulAssign(_) => self.instead(whole, &[("+=", parse_quote!(+=)), ("/=", parse_quote!(/=))], true),
            BinOp::BitOrAssign(_) => self.instead(whole, &[("&=", parse_quote!(&=)), ("^=", parse_quote!(^=))], true),
            BinOp::BitAndAssign(_) => self.instead(whole, &[("|=", parse_quote!(|=)), ("^=", parse_quote!(^=))], true),
            _ => {}
        }
    }

    /// The same with other operators, each in a branch of its own.
    fn instead(&mut self, whole: &mut Expr, others: &[(&str, BinOp)], statement: bool) {
        let Expr::Binary(e) = whole.clone() else { return };
        let original = e.op.to_token_stream();
        let mut chain = whole.to_token_stream();
        for (text, op) in others {
            if let Some(id) = self.add(e.op.span(), format!("{original} to {text}")) {
                let (l, r) = (&e.left, &e.right);
                chain = quote! { if crate::mutant::on(#id) { (#l) #op (#r) } else { #chain } };
            }
        }
        *whole = if statement {
            parse_quote! { { #chain } }
        } else {
            parse_quote! { ({ #chain }) }
        };
    }

    fn turn(&mut self, e: &mut Expr, what: &str) {
        if let Some(id) = self.add(e.span(), what) {
            *e = parse_quote! { (crate::mutant::on(#id) ^ #e) };
        }
    }

    /// Methods that have an opposite, and closures that choose.
    fn method(&mut self, m: syn::ExprMethodCall, whole: &mut Expr) {
        let name = m.method.to_string();
        let opposite = match name.as_str() {
            "any" => "all",
            "all" => "any",
            "min" => "max",
            "max" => "min",
            "min_by_key" => "max_by_key",
            "max_by_key" => "min_by_key",
            "first" => "last",
            "starts_with" => "ends_with",
            "is_some_and" => "is_none_or",
            "is_none_or" => "is_some_and",
            "saturating_add" => "saturating_sub",
            "saturating_sub" => "saturating_add",
            _ => "",
        };
        if !opposite.is_empty() {
            if let Some(id) = self.add(m.method.span(), format!("{name} to {opposite}")) {
                let mut other = m.clone();
                other.method = syn::Ident::new(opposite, m.method.span());
                *whole = parse_quote! { (if crate::mutant::on(#id) { #other } else { #whole }) };
            }
            return;
        }
        if matches!(name.as_str(), "filter" | "find" | "retain" | "position" | "take_while" | "skip_while" | "extract_if")
            && m.args.len() == 1
            && let Some(Expr::Closure(c)) = m.args.first()
            && let Some(id) = self.add(m.method.span(), format!("{name} everything"))
        {
            let mut closure = c.clone();
            let body = &c.body;
            closure.body = parse_quote! { (crate::mutant::on(#id) || (#body)) };
            let Expr::MethodCall(out) = whole else { return };
            out.args = [Expr::Closure(closure)].into_iter().collect();
        }
    }

    fn arms(&mut self, e: &mut syn::ExprMatch) {
        let wild = e.arms.last().is_some_and(|a| a.guard.is_none() && matches!(a.pat, syn::Pat::Wild(_)));
        let last = e.arms.len().saturating_sub(1);
        for (i, arm) in e.arms.iter_mut().enumerate() {
            match &mut arm.guard {
                Some((_, guard)) if !has_let(guard) => {
                    let (span, whole) = (guard.span(), guard.clone());
                    if let Some(id) = self.add(span, "guard to false") {
                        **guard = parse_quote! { !crate::mutant::on(#id) && (#whole) };
                    }
                    let whole = guard.clone();
                    if let Some(id) = self.add(span, "guard to true") {
                        **guard = parse_quote! { crate::mutant::on(#id) || (#whole) };
                    }
                }
                None if wild && i < last => {
                    if let Some(id) = self.add(arm.pat.span(), "delete match arm") {
                        let sign = syn::token::If::default();
                        arm.guard = Some((sign, parse_quote! { !crate::mutant::on(#id) }));
                    }
                }
                _ => {}
            }
        }
    }
}

/// True for `let` in a chain, which cannot be moved.
fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(b) => matches!(b.op, BinOp::And(_)) && (has_let(&b.left) || has_let(&b.right)),
        Expr::Paren(p) => has_let(&p.expr),
        _ => false,
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| {
        let text = a.meta.to_token_stream().to_string();
        text == "test" || (text.starts_with("cfg") && text.contains("test"))
    })
}

/// What a function may give back instead.
fn values(ty: &Type) -> Vec<proc_macro2::TokenStream> {
    let default = vec![quote!(Default::default())];
    match ty {
        Type::Tuple(t) if t.elems.is_empty() => vec![quote!(())],
        Type::Reference(r) if r.mutability.is_none() && r.elem.to_token_stream().to_string() == "str" => vec![quote!(""), quote!("xyzzy")],
        Type::Reference(r) if matches!(*r.elem, Type::Slice(_)) => vec![quote!(&[])],
        Type::Reference(_) | Type::ImplTrait(_) | Type::Never(_) => Vec::new(),
        Type::Path(p) => {
            let Some(last) = p.path.segments.last() else { return Vec::new() };
            let inner = || match &last.arguments {
                syn::PathArguments::AngleBracketed(a) => a.args.iter().find_map(|a| match a {
                    syn::GenericArgument::Type(t) => Some(values(t)),
                    _ => None,
                }),
                _ => None,
            };
            match last.ident.to_string().as_str() {
                "bool" => vec![quote!(true), quote!(false)],
                "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => vec![quote!(0), quote!(1)],
                "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => vec![quote!(0), quote!(1), quote!(-1)],
                "String" => vec![quote!(String::new()), quote!("xyzzy".into())],
                "Option" => {
                    let some = inner().unwrap_or_default();
                    [quote!(None)].into_iter().chain(some.into_iter().map(|v| quote!(Some(#v)))).collect()
                }
                "Vec" => {
                    let one = inner().unwrap_or_default();
                    [quote!(vec![])].into_iter().chain(one.into_iter().map(|v| quote!(vec![#v]))).collect()
                }
                "Result" => inner().unwrap_or(default).into_iter().map(|v| quote!(Ok(#v))).collect(),
                "Verdict" => vec![quote!(crate::filter::Verdict::Pass)],
                "Box" | "Arc" | "Rc" | "Filter" => Vec::new(),
                _ => default,
            }
        }
        Type::Tuple(_) => default,
        _ => Vec::new(),
    }
}

impl VisitMut for Rewriter<'_> {
    fn visit_item_mut(&mut self, item: &mut Item) {
        match item {
            Item::Mod(m) if is_test(&m.attrs) => {}
            Item::Fn(f) if is_test(&f.attrs) => {}
            Item::Const(_) | Item::Static(_) | Item::Macro(_) | Item::Enum(_) | Item::Type(_) => {}
            _ => visit_mut::visit_item_mut(self, item),
        }
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        if is_test(&item.attrs) {
            return;
        }
        self.scope.push(item.self_ty.to_token_stream().to_string().replace(' ', ""));
        visit_mut::visit_item_impl_mut(self, item);
        self.scope.pop();
    }

    fn visit_item_fn_mut(&mut self, f: &mut syn::ItemFn) {
        self.body(&f.sig, &mut f.block);
    }

    fn visit_impl_item_mut(&mut self, item: &mut syn::ImplItem) {
        if let syn::ImplItem::Fn(f) = item {
            self.body(&f.sig, &mut f.block);
        }
    }

    fn visit_trait_item_mut(&mut self, item: &mut syn::TraitItem) {
        if let syn::TraitItem::Fn(syn::TraitItemFn { sig, default: Some(block), .. }) = item {
            self.body(sig, block);
        }
    }

    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}
    fn visit_attribute_mut(&mut self, _: &mut syn::Attribute) {}
    fn visit_generics_mut(&mut self, _: &mut syn::Generics) {}

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if matches!(e, Expr::Const(_)) {
            return;
        }
        visit_mut::visit_expr_mut(self, e);
        match e {
            Expr::Binary(_) => self.binary(e),
            Expr::Unary(u) if matches!(u.op, UnOp::Not(_)) => {
                if let Some(id) = self.add(u.span(), "delete !") {
                    *e = parse_quote! { (crate::mutant::on(#id) ^ (#e)) };
                }
            }
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) => {
                let inner = u.expr.clone();
                if let Some(id) = self.add(u.span(), "delete -") {
                    *e = parse_quote! { (if crate::mutant::on(#id) { #inner } else { #e }) };
                }
            }
            Expr::Macro(m) if m.mac.path.is_ident("matches") => {
                if let Some(id) = self.add(m.span(), "turn matches! round") {
                    *e = parse_quote! { (crate::mutant::on(#id) ^ #e) };
                }
            }
            Expr::Match(m) => self.arms(m),
            Expr::If(i) if opaque(&i.cond) => self.turn(&mut i.cond, "turn if round"),
            Expr::Call(c) if is_path(&c.func, "Some") => {
                if let Some(id) = self.add(c.span(), "Some to None") {
                    *e = parse_quote! { (if crate::mutant::on(#id) { None } else { #e }) };
                }
            }
            Expr::MethodCall(m) => self.method(m.clone(), e),
            Expr::Lit(l) => match &l.lit {
                syn::Lit::Bool(b) => {
                    if let Some(id) = self.add(l.span(), format!("{} to {}", b.value, !b.value)) {
                        *e = parse_quote! { (crate::mutant::on(#id) ^ #e) };
                    }
                }
                syn::Lit::Int(n) => {
                    let Ok(value) = n.base10_parse::<u64>() else { return };
                    let other = syn::LitInt::new(&format!("{}{}", value.saturating_add(1), n.suffix()), n.span());
                    if let Some(id) = self.add(l.span(), format!("{n} to {other}")) {
                        *e = parse_quote! { (if crate::mutant::on(#id) { #other } else { #e }) };
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn visit_expr_repeat_mut(&mut self, e: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut e.expr);
    }

    fn visit_stmt_mut(&mut self, s: &mut syn::Stmt) {
        visit_mut::visit_stmt_mut(self, s);
        if let syn::Stmt::Expr(e, Some(_)) = s
            && matches!(e, Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_))
            && let Some(id) = self.add(e.span(), "delete statement")
        {
            *s = parse_quote! { if !crate::mutant::on(#id) { #e; } };
        }
    }
}

/// True for a condition in which nothing else is turned round.
fn opaque(e: &Expr) -> bool {
    match e {
        Expr::Paren(p) => opaque(&p.expr),
        Expr::MethodCall(_) | Expr::Call(_) | Expr::Path(_) | Expr::Field(_) => true,
        _ => false,
    }
}

fn is_path(e: &Expr, name: &str) -> bool {
    matches!(e, Expr::Path(p) if p.path.is_ident(name))
}
