// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension Discovery {
    /// Where keys are looked for; this machine unless a test says otherwise.
    struct Machine: Sendable {
        var usb = USBMachine()
        var hid = HIDMachine()
        /// A function, because only watching needs libudev.
        var news: @Sendable () -> DeviceNews = { .here }
        var readers: @Sendable (Duration, Cancellation?) throws(LinkError) -> [ReaderStatus] = {
            timeout, cancellation throws(LinkError) in try PCSC.readers(timeout: timeout, cancellation: cancellation)
        }
        var readerEvents: @Sendable () -> AsyncStream<ReaderEvent> = { PCSC.watch() }
        /// The bus and address of a reader, as reported by the service.
        var locate: @Sendable (_ reader: String, _ timeout: Duration) -> (bus: Int, address: Int)? = {
            PCSC.usbAddress(of: $0, timeout: $1)
        }
    }
}
