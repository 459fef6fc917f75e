use super::*;
use quote::{ToTokens, quote};

fn merged(common: proc_macro2::TokenStream, own: proc_macro2::TokenStream) -> Result<String> {
    let items = |tokens| syn::parse2::<syn::File>(tokens).unwrap().items;
    let merged = merge(items(common), items(own))?;
    Ok(merged.iter().map(|item| item.to_token_stream().to_string().replace(' ', "")).collect())
}

#[test]
fn merges_items_at_marks() {
    let common = quote!(type A = u8; place!(b); type D = u8; place!(e););
    let own = quote!(type Z = u8; place!(e); type E = u8; place!(b); type B = u8; type C = u8;);
    assert_eq!(merged(common.clone(), own).unwrap(), "typeA=u8;typeB=u8;typeC=u8;typeD=u8;typeE=u8;typeZ=u8;");
    assert!(merged(common.clone(), quote!(place!(b); type B = u8;)).is_err());
    assert!(merged(common, quote!(place!(b); place!(e); place!(f);)).is_err());
}

#[test]
fn adds_members_to_enumeration() {
    let common = quote!(c_enum! { t as T; A = 1, "A."; });
    let own = |name: &str| {
        let name = quote::format_ident!("{name}");
        quote!(c_members! { #name; B = 2, "B."; })
    };
    assert_eq!(merged(common.clone(), own("T")).unwrap(), "c_enum!{tasT;A=1,\"A.\";B=2,\"B.\";}");
    assert!(merged(common, own("X")).is_err());
}
