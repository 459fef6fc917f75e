use super::*;
use quote::quote;

fn text(tokens: proc_macro2::TokenStream) -> String {
    lines(&syn::parse2(tokens).unwrap()).unwrap()
}

#[test]
fn each_form_has_its_lines() {
    assert_eq!(text(quote!(scalar!(T, 4, 2))), "TYPE(T, 4, 2)\n");
    assert_eq!(
        text(quote!(record!(R, 8, 4, { a: 0, 4; b: 4, 2; }))),
        "\nTYPE(R, 8, 4)\nFIELD(R, a, 0, 4)\nFIELD(R, b, 4, 2)\n"
    );
    assert_eq!(text(quote!(values!(G { A = 0x1F, B = -2, C = 0x1_0000_0000, }))).lines().count(), 4);
    assert!(text(quote!(values!(G { C = 0x100000000, }))).contains("0x100000000ULL"));
}
