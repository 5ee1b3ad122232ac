// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import YKTransport

extension PCSCLibrary {
    /// The name under which every distribution ships the library.
    static let soname = "libpcsclite.so.1"

    /// Opens the library, which stays open; throws `serviceNotInstalled` when it is not there or is not complete.
    static func load(_ path: String = soname) throws(LinkError) -> PCSCLibrary {
        guard let image = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { throw .serviceNotInstalled }
        do { return try PCSCLibrary(image: image) } catch {
            dlclose(image)
            throw .serviceNotInstalled
        }
    }

    private struct SymbolMissing: Error {}

    private static func symbol<Function>(
        _ image: UnsafeMutableRawPointer, _ name: String, as type: Function.Type
    ) throws(SymbolMissing) -> Function {
        guard let address = dlsym(image, name) else { throw SymbolMissing() }
        return unsafeBitCast(address, to: type)
    }

    private init(image: UnsafeMutableRawPointer) throws(SymbolMissing) {
        typealias Out<Value> = UnsafeMutablePointer<Value>
        let establish = try Self.symbol(
            image, "SCardEstablishContext",
            as: (@convention(c) (DWORD, LPCVOID?, LPCVOID?, Out<SCARDCONTEXT>?) -> LONG).self)
        let release = try Self.symbol(
            image, "SCardReleaseContext", as: (@convention(c) (SCARDCONTEXT) -> LONG).self)
        let list = try Self.symbol(
            image, "SCardListReaders", as: (@convention(c) (SCARDCONTEXT, LPCSTR?, LPSTR?, Out<DWORD>?) -> LONG).self)
        let change = try Self.symbol(
            image, "SCardGetStatusChange",
            as: (@convention(c) (SCARDCONTEXT, DWORD, Out<SCARD_READERSTATE>?, DWORD) -> LONG).self)
        let cancel = try Self.symbol(image, "SCardCancel", as: (@convention(c) (SCARDCONTEXT) -> LONG).self)
        let connect = try Self.symbol(
            image, "SCardConnect",
            as: (@convention(c) (SCARDCONTEXT, LPCSTR?, DWORD, DWORD, Out<SCARDHANDLE>?, Out<DWORD>?) -> LONG).self)
        let reconnect = try Self.symbol(
            image, "SCardReconnect", as: (@convention(c) (SCARDHANDLE, DWORD, DWORD, DWORD, Out<DWORD>?) -> LONG).self)
        let disconnect = try Self.symbol(
            image, "SCardDisconnect", as: (@convention(c) (SCARDHANDLE, DWORD) -> LONG).self)
        let begin = try Self.symbol(image, "SCardBeginTransaction", as: (@convention(c) (SCARDHANDLE) -> LONG).self)
        let end = try Self.symbol(
            image, "SCardEndTransaction", as: (@convention(c) (SCARDHANDLE, DWORD) -> LONG).self)
        typealias Status =
            @convention(c) (SCARDHANDLE, LPSTR?, Out<DWORD>?, Out<DWORD>?, Out<DWORD>?, Out<UInt8>?, Out<DWORD>?) ->
            LONG
        let status = try Self.symbol(image, "SCardStatus", as: Status.self)
        typealias Control =
            @convention(c) (SCARDHANDLE, DWORD, LPCVOID?, DWORD, LPVOID?, DWORD, Out<DWORD>?) -> LONG
        let control = try Self.symbol(image, "SCardControl", as: Control.self)
        typealias Attribute = @convention(c) (SCARDHANDLE, DWORD, LPBYTE?, Out<DWORD>?) -> LONG
        let attribute = try Self.symbol(image, "SCardGetAttrib", as: Attribute.self)
        typealias Transmit =
            @convention(c) (
                SCARDHANDLE, UnsafePointer<SCARD_IO_REQUEST>?, LPCBYTE?, DWORD, Out<SCARD_IO_REQUEST>?, LPBYTE?,
                Out<DWORD>?
            ) -> LONG
        let transmit = try Self.symbol(image, "SCardTransmit", as: Transmit.self)
        self.init(
            establishContext: { establish(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, $0) },
            releaseContext: { release($0) },
            listReaders: { list($0, nil, $1, $2) },
            getStatusChange: { change($0, $1, $2, $3) },
            cancel: { cancel($0) },
            connect: { connect($0, $1, $2, $3, $4, $5) },
            reconnect: { reconnect($0, $1, $2, $3, $4) },
            disconnect: { disconnect($0, $1) },
            beginTransaction: { begin($0) },
            endTransaction: { end($0, $1) },
            status: { status($0, nil, nil, $1, $2, $3, $4) },
            control: { control($0, $1, $2, $3, $4, $5, $6) },
            attribute: { attribute($0, $1, $2, $3) },
            transmit: { transmit($0, $1, $2, $3, nil, $4, $5) })
    }
}
