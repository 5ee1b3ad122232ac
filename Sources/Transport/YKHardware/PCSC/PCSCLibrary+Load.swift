// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKTransport

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
