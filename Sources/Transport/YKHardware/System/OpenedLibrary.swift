// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A C library that is opened at run time, so that a program starts without it and says what is missing when it is needed.
struct OpenedLibrary {
    /// The library has no function of a name: it is older than what was looked for.
    struct FunctionMissing: Error {}

    private let image: UnsafeMutableRawPointer

    /// Opens a library, which stays open, and makes a table of its functions.
    ///
    /// - Parameters:
    ///   - path: Its soname, or a path.
    ///   - table: Asks for the functions.
    /// - Returns: `nil` when the library is not there, or lacks a function; it is closed again then.
    static func load<Table>(
        _ path: String, _ table: (OpenedLibrary) throws(FunctionMissing) -> Table
    ) -> Table? {
        guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return nil }
        do { return try table(OpenedLibrary(image: image)) } catch {
            dlclose(image)
            return nil
        }
    }

    /// A function by its name.
    ///
    /// - Parameters:
    ///   - type: Its C type, which is the caller's to know: the library does not tell.
    func function<Function>(_ name: String, _ type: Function.Type) throws(FunctionMissing) -> Function {
        unsafeBitCast(try address(name), to: type)
    }

    /// Where a function is, for one that Swift cannot call, such as one with any number of arguments.
    func address(_ name: String) throws(FunctionMissing) -> UnsafeMutableRawPointer {
        guard let address = dlsym(image, name) else { throw FunctionMissing() }
        return address
    }
}
