// SPDX-License-Identifier: Apache-2.0

import CPCSC

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
