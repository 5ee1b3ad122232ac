// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// Without a smart card service, ykit itself does what libccid does for a reader: control codes, but no attributes.
extension USBCardLink: ReaderLink {
    func connection(deadline: Deadline) throws(LinkError) -> CardConnection {
        try checkCard(deadline: deadline)
        // SCARD_PRESENT, SCARD_POWERED, SCARD_SPECIFIC.
        return CardConnection(state: 0x0004 | 0x0010 | 0x0040, activeProtocol: 1 << protocolBit, atr: identity.atr)
    }

    /// Passes the escape code to the reader unchanged and answers the feature request here; no other codes are
    /// supported.
    func control(_ code: UInt32, _ bytes: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch code {
        case ReaderFeatures.escape: return try escape(bytes, deadline: deadline)
        case UInt32(ReaderFeatures.featureRequest): return ReaderFeatures.ofDirectReader
        default: throw .unsupportedFeature
        }
    }

    func attribute(_ tag: UInt32, deadline: Deadline) throws(LinkError) -> [UInt8] { throw .unsupportedFeature }
}
