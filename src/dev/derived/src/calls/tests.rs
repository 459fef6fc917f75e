use super::*;
use crate::interface::INTERFACES;
use quote::quote;

fn entry(how: TokenStream) -> Result<Call> {
    Call::read(
        quote! {
            /// Does it.
            ///
            /// # Returns
            /// * `DAT_ABORT` - never
            ///
            /// # Specification
            /// None.
            extern "C" fn dat_x(a: DAT_HANDLE, "in, one.";) => #how;
        },
        &INTERFACES[0],
        true,
    )
}

#[test]
fn parses_how_calls_execute() {
    assert!(matches!(entry(quote!(dispatch(S))).unwrap().how, How::Dispatch));
    assert!(matches!(entry(quote!(wrap)).unwrap().how, How::Wrap(None)));
    assert!(matches!(entry(quote!(wrap as T)).unwrap().how, How::Wrap(Some(_))));
    assert!(matches!(entry(quote!(own)).unwrap().how, How::Own));
    assert!(entry(quote!(else_where)).is_err());
}
