// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A C library opened at run time, so that a program starts without it and reports it as missing only when it is
/// needed.
struct OpenedLibrary {
    /// The library lacks a function because it is older than the one required.
    struct FunctionMissing: Error {}

    private let image: UnsafeMutableRawPointer

    /// Opens a library, which stays open, and builds a table of its functions.
    ///
    /// - Parameters:
    ///   - path: The library's soname or path.
    ///   - table: Looks up the functions.
    /// - Returns: The table, or `nil` if the library is missing or lacks a function, in which case it is closed again.
    static func load<Table>(
        _ path: String, _ table: (OpenedLibrary) throws(FunctionMissing) -> Table
    ) -> Table? {
        guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return nil }
        do { return try table(OpenedLibrary(image: image)) } catch {
            dlclose(image)
            return nil
        }
    }

    /// Looks up a function by name.
    ///
    /// - Parameters:
    ///   - type: The function's C type, which the caller must get right: the library does not record it.
    func function<Function>(_ name: String, _ type: Function.Type) throws(FunctionMissing) -> Function {
        unsafeBitCast(try address(name), to: type)
    }

    /// The address of a function that Swift cannot call, such as a variadic one.
    func address(_ name: String) throws(FunctionMissing) -> UnsafeMutableRawPointer {
        guard let address = dlsym(image, name) else { throw FunctionMissing() }
        return address
    }
}
