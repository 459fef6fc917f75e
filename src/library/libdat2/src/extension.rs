//! dat_extension_op, the only variadic function of the interface.
//!
//! Stable Rust cannot define variadic functions, so the exported function is assembly: it builds a `va_list` from the
//! argument registers, and calls [`extension_op`].

use std::arch::global_asm;
use std::ptr;

use ::dat_registry::{Purpose, Request};
use dat_library::api::Api;
use dat_library::dispatch::{provider_of, provider_of_page};
use dat_library::guard::{making, slow};
use dat_library::ia;
use dat_udat20::*;
use host::cstr;
use host::va_list::VaList;

use crate::Udat20;
use crate::ia::close;

dat_library::symver!("DAT_2.0", dat_extension_op);

/// Defines `DAT_RETURN dat_extension_op(DAT_HANDLE ext_handle, DAT_EXTENDED_OP ext_op, ...)`, which build.rs exports.
macro_rules! function {
    ($($line:literal,)*) => {
        global_asm!(
            ".pushsection .text.dat_extension_op,\"ax\",@progbits",
            ".globl dat_extension_op",
            ".type dat_extension_op, @function",
            ".p2align 4",
            "dat_extension_op:",
            ".cfi_startproc",
            $($line,)*
            ".cfi_endproc",
            ".size dat_extension_op, . - dat_extension_op",
            ".popsection",
            extension_op = sym extension_op,
        );
    };
}

// Stack frame: the `va_list` (24 bytes), and at offset 32 the general registers in the order of arguments. The
// `va_list` marks the vector registers as consumed. The stack pointer stays a multiple of 16.
#[cfg(target_arch = "x86_64")]
function! {
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "sub rsp, 80",
    "mov [rsp + 48], rdx",
    "mov [rsp + 56], rcx",
    "mov [rsp + 64], r8",
    "mov [rsp + 72], r9",
    "mov dword ptr [rsp], 16",
    "mov dword ptr [rsp + 4], 176",
    "lea rax, [rbp + 16]",
    "mov [rsp + 8], rax",
    "lea rax, [rsp + 32]",
    "mov [rsp + 16], rax",
    "mov rdx, rsp",
    "call {extension_op}",
    "leave",
    ".cfi_restore rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
}

// Stack frame: the frame record (16 bytes), the `va_list` (32 bytes), and at offset 48 the argument registers after the
// first two. The `va_list` marks the vector registers as consumed.
#[cfg(target_arch = "aarch64")]
function! {
    "stp x29, x30, [sp, #-96]!",
    ".cfi_def_cfa_offset 96",
    ".cfi_offset x29, -96",
    ".cfi_offset x30, -88",
    "mov x29, sp",
    "stp x2, x3, [sp, #48]",
    "stp x4, x5, [sp, #64]",
    "stp x6, x7, [sp, #80]",
    "add x8, sp, #96",
    "stp x8, x8, [sp, #16]",
    "str x8, [sp, #32]",
    "mov w9, #-48",
    "stp w9, wzr, [sp, #40]",
    "add x2, sp, #16",
    "bl {extension_op}",
    "ldp x29, x30, [sp], #96",
    ".cfi_def_cfa_offset 0",
    ".cfi_restore x29",
    ".cfi_restore x30",
    "ret",
}

/// Opens or closes an adapter for a query, or passes the operation to the handle's provider.
///
/// # Safety
/// The list must contain the arguments of the operation.
unsafe extern "C" fn extension_op(
    ext_handle: DAT_HANDLE,
    ext_op: DAT_EXTENDED_OP,
    arguments: &mut VaList,
) -> DAT_RETURN {
    match ext_op as u32 {
        // SAFETY: the list contains the arguments of the operation, as the caller promises.
        DAT_IB_OPEN_QUERY_OP => unsafe { open_query(arguments) },
        DAT_IB_CLOSE_QUERY_OP => slow::<Udat20>(|| {
            close::<Udat20>(ext_handle.wrapping_byte_sub(QUERY_OFFSET), DAT_CLOSE_ABRUPT_FLAG, Purpose::Query)
        }),
        _ => {
            let Some(table) = provider_of_page(ext_handle).or_else(|| provider_of(ext_handle)) else {
                return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1);
            };
            // SAFETY: a registered table is readable until its provider removes it.
            match unsafe { (*table.cast::<DAT_PROVIDER>()).handle_extendedop_func } {
                // SAFETY: the slot has this type, and the arguments are the caller's.
                Some(function) => unsafe { function(ext_handle, ext_op, ptr::from_mut(arguments).cast()) },
                None => Udat20::CODES.not_implemented,
            }
        }
    }
}

/// Added to the address of an instance that is open for a query. Dispatch rejects the sum, because it is unaligned.
const QUERY_OFFSET: usize = 1;

/// Length of a query's asynchronous EVD, which is not used.
const QUERY_QLEN: DAT_COUNT = 8;

/// Opens an adapter to read its attributes. The handle is only valid for `DAT_IB_CLOSE_QUERY_OP`.
///
/// # Safety
/// The list must contain a `const DAT_NAME_PTR`, `DAT_IA_HANDLE *`, `DAT_IA_ATTR_MASK`, `DAT_IA_ATTR *`,
/// `DAT_PROVIDER_ATTR_MASK` and `DAT_PROVIDER_ATTR *`. Each pointer must be NULL or valid.
unsafe fn open_query(arguments: &mut VaList) -> DAT_RETURN {
    // SAFETY: the list contains these arguments, as the caller promises.
    let [name, ia_handle, ia_mask, ia_attr, provider_mask, provider_attr] = unsafe { arguments.next_words() };
    let ia_handle = VaList::pointer::<DAT_IA_HANDLE>(ia_handle);
    let ia_attr = VaList::pointer::<DAT_IA_ATTR>(ia_attr);
    let provider_attr = VaList::pointer::<DAT_PROVIDER_ATTR>(provider_attr);
    making::<Udat20>(|| {
        // SAFETY: the name is NULL or valid, as the caller promises.
        let name = unsafe { cstr::bounded(VaList::pointer(name), DAT_NAME_MAX_LENGTH) };
        let name = name.ok_or(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3))?;
        if ia_handle.is_null() {
            return Err(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
        }
        if ia_attr.is_null() && provider_attr.is_null() {
            return Err(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5));
        }
        let thread_safe = DAT_THREADSAFE != DAT_FALSE;
        let request = Request { name, major: DAT_VERSION_MAJOR, minor: DAT_VERSION_MINOR, thread_safe };
        let mut async_evd: DAT_EVD_HANDLE = ptr::null_mut();
        // SAFETY: the name is a C string, and the EVD handle is a local variable.
        let (handle, table) = unsafe { ia::open::<Udat20>(&request, Purpose::Query, QUERY_QLEN, &mut async_evd)? };
        // SAFETY: the table is registered while the instance is open.
        let code = match unsafe { (*table.cast::<DAT_PROVIDER>()).ia_query_func } {
            // SAFETY: the instance is open, and the pointers are NULL or valid, as the caller promises.
            Some(query) => unsafe { query(handle, ptr::null_mut(), ia_mask, ia_attr, provider_mask, provider_attr) },
            None => Udat20::CODES.not_implemented,
        };
        if code != DAT_SUCCESS {
            close::<Udat20>(handle, DAT_CLOSE_ABRUPT_FLAG, Purpose::Query)?;
            return Err(open_query_code(code));
        }
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write_unaligned(handle.wrapping_byte_add(QUERY_OFFSET)) };
        Ok(())
    })
}

#[cfg(test)]
mod tests;
