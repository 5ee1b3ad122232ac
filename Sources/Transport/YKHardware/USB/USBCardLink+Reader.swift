// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Without a service between, what libccid makes of a reader is made here: codes for the reader itself, but no attributes.
extension USBCardLink: ReaderLink {
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection {
        try checkCard(deadline: deadline)
        // SCARD_PRESENT, SCARD_POWERED, SCARD_SPECIFIC.
        return CardConnection(state: 0x0004 | 0x0010 | 0x0040, activeProtocol: 1 << protocolBit, atr: identity.atr)
    }

    /// The escape code goes to the reader as it is, the question for features is answered here; others are not known.
    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch code {
        case ReaderFeatures.escape: return try escape(bytes, deadline: deadline)
        case UInt32(ReaderFeatures.featureRequest): return ReaderFeatures.ofDirectReader
        default: throw .unsupportedFeature
        }
    }

    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8] { throw .unsupportedFeature }
}
