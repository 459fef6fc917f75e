use super::*;
use quote::ToTokens;

#[test]
fn expands_common_macros() {
    let items = |text: &str| syn::parse_file(text).unwrap().items;
    let shared = "macro_rules! all { ($int:ident; $($own:tt)*) => { struct All { a: $int, $($own)* } }; }";
    let mut common = items(&format!("{shared} type A = u8;"));
    let own = expand(&mut common, items("type B = u8; common::all! { u16; b: u8, }")).unwrap();
    assert_eq!((common.len(), own.len()), (1, 2));
    let Item::Struct(made) = &own[1] else { panic!("no structure") };
    let fields: Vec<_> = made.fields.iter().map(|field| field.to_token_stream().to_string()).collect();
    assert_eq!(fields, ["a : u16", "b : u8"]);
}
