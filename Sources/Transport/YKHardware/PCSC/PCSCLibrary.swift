// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKTransport

/// The functions used from libpcsclite, as a table: filled at run time by the real library, in tests by their own.
struct PCSCLibrary: Sendable {
    var establishContext: @Sendable (_ context: UnsafeMutablePointer<SCARDCONTEXT>) -> LONG
    var releaseContext: @Sendable (SCARDCONTEXT) -> LONG
    var listReaders:
        @Sendable (SCARDCONTEXT, _ names: UnsafeMutablePointer<CChar>?, _ length: UnsafeMutablePointer<DWORD>) -> LONG
    var getStatusChange:
        @Sendable (
            SCARDCONTEXT, _ milliseconds: DWORD, _ states: UnsafeMutablePointer<SCARD_READERSTATE>?, _ count: DWORD
        ) -> LONG
    var cancel: @Sendable (SCARDCONTEXT) -> LONG
    var connect:
        @Sendable (
            SCARDCONTEXT, _ reader: UnsafePointer<CChar>, _ share: DWORD, _ protocols: DWORD,
            _ card: UnsafeMutablePointer<SCARDHANDLE>, _ active: UnsafeMutablePointer<DWORD>
        ) -> LONG
    var reconnect:
        @Sendable (
            SCARDHANDLE, _ share: DWORD, _ protocols: DWORD, _ initialization: DWORD,
            _ active: UnsafeMutablePointer<DWORD>
        ) -> LONG
    var disconnect: @Sendable (SCARDHANDLE, _ disposition: DWORD) -> LONG
    var beginTransaction: @Sendable (SCARDHANDLE) -> LONG
    var endTransaction: @Sendable (SCARDHANDLE, _ disposition: DWORD) -> LONG
    var status:
        @Sendable (
            SCARDHANDLE, _ state: UnsafeMutablePointer<DWORD>?, _ active: UnsafeMutablePointer<DWORD>?,
            _ atr: UnsafeMutablePointer<UInt8>?, _ atrLength: UnsafeMutablePointer<DWORD>
        ) -> LONG
    var control:
        @Sendable (
            SCARDHANDLE, _ code: DWORD, _ command: UnsafePointer<UInt8>?, _ count: DWORD,
            _ reply: UnsafeMutablePointer<UInt8>?, _ room: DWORD, _ length: UnsafeMutablePointer<DWORD>
        ) -> LONG
    var attribute:
        @Sendable (
            SCARDHANDLE, _ number: DWORD, _ value: UnsafeMutablePointer<UInt8>, _ length: UnsafeMutablePointer<DWORD>
        ) -> LONG = { _, _, _, _ in LONG(0x8010_001F) }
    var transmit:
        @Sendable (
            SCARDHANDLE, _ header: UnsafePointer<SCARD_IO_REQUEST>, _ command: UnsafePointer<UInt8>?, _ count: DWORD,
            _ reply: UnsafeMutablePointer<UInt8>?, _ length: UnsafeMutablePointer<DWORD>
        ) -> LONG
}

extension PCSCLibrary {
    /// The name under which every distribution ships the library.
    static let soname = "libpcsclite.so.1"

    /// Opens the library, which stays open; throws `serviceNotInstalled` when it is missing or incomplete.
    static func load(_ path: String = soname) throws(LinkError) -> PCSCLibrary {
        guard let library = OpenedLibrary.load(path, PCSCLibrary.init(library:)) else { throw .serviceNotInstalled }
        return library
    }

    private init(library: OpenedLibrary) throws(OpenedLibrary.FunctionMissing) {
        typealias Out<Value> = UnsafeMutablePointer<Value>
        let establish = try library.function(
            "SCardEstablishContext", (@convention(c) (DWORD, LPCVOID?, LPCVOID?, Out<SCARDCONTEXT>?) -> LONG).self)
        let release = try library.function("SCardReleaseContext", (@convention(c) (SCARDCONTEXT) -> LONG).self)
        let list = try library.function(
            "SCardListReaders", (@convention(c) (SCARDCONTEXT, LPCSTR?, LPSTR?, Out<DWORD>?) -> LONG).self)
        let change = try library.function(
            "SCardGetStatusChange", (@convention(c) (SCARDCONTEXT, DWORD, Out<SCARD_READERSTATE>?, DWORD) -> LONG).self)
        let cancel = try library.function("SCardCancel", (@convention(c) (SCARDCONTEXT) -> LONG).self)
        let connect = try library.function(
            "SCardConnect",
            (@convention(c) (SCARDCONTEXT, LPCSTR?, DWORD, DWORD, Out<SCARDHANDLE>?, Out<DWORD>?) -> LONG).self)
        let reconnect = try library.function(
            "SCardReconnect", (@convention(c) (SCARDHANDLE, DWORD, DWORD, DWORD, Out<DWORD>?) -> LONG).self)
        let disconnect = try library.function("SCardDisconnect", (@convention(c) (SCARDHANDLE, DWORD) -> LONG).self)
        let begin = try library.function("SCardBeginTransaction", (@convention(c) (SCARDHANDLE) -> LONG).self)
        let end = try library.function("SCardEndTransaction", (@convention(c) (SCARDHANDLE, DWORD) -> LONG).self)
        typealias Status =
            @convention(c) (SCARDHANDLE, LPSTR?, Out<DWORD>?, Out<DWORD>?, Out<DWORD>?, Out<UInt8>?, Out<DWORD>?) ->
            LONG
        let status = try library.function("SCardStatus", Status.self)
        typealias Control =
            @convention(c) (SCARDHANDLE, DWORD, LPCVOID?, DWORD, LPVOID?, DWORD, Out<DWORD>?) -> LONG
        let control = try library.function("SCardControl", Control.self)
        typealias Attribute = @convention(c) (SCARDHANDLE, DWORD, LPBYTE?, Out<DWORD>?) -> LONG
        let attribute = try library.function("SCardGetAttrib", Attribute.self)
        typealias Transmit =
            @convention(c) (
                SCARDHANDLE, UnsafePointer<SCARD_IO_REQUEST>?, LPCBYTE?, DWORD, Out<SCARD_IO_REQUEST>?, LPBYTE?,
                Out<DWORD>?
            ) -> LONG
        let transmit = try library.function("SCardTransmit", Transmit.self)
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
