// SPDX-License-Identifier: Apache-2.0

import YKWire

/// What a TPM signs to certify another of its keys (TPM 2.0 Library, Part 2 §10.12.12, TPMS_ATTEST with
/// TPMS_CERTIFY_INFO).
struct TPMCertification: Hashable, Sendable {
    /// The signer.
    let signer: [UInt8]
    /// The caller's data that was signed along with it.
    let extraData: [UInt8]
    /// The TPM's clock in milliseconds, its counts of resets and restarts, and whether the clock is safe.
    let clock: (milliseconds: UInt64, resets: UInt32, restarts: UInt32, isSafe: Bool)
    /// The firmware version, in the manufacturer's numbering.
    let firmware: UInt64
    /// The certified key.
    let name: TPMName
    /// The certified key with its parents.
    let qualifiedName: TPMName

    /// TPM_GENERATED_VALUE: signed data begins with FF "TCG", so that external data cannot be mistaken for it.
    private static let magic: UInt32 = 0xFF54_4347
    /// TPM_ST_ATTEST_CERTIFY.
    private static let certify: UInt16 = 0x8017

    /// Reads a certification; trailing bytes are an error.
    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.uint32("the mark") == Self.magic else {
            throw WireError(.malformed, at: 0, "it was not made by a TPM")
        }
        let type = try reader.uint16("the type")
        guard type == Self.certify else { throw WireError(.malformed, at: 4, "type \(type) is not a certification") }
        signer = try reader.tpmBytes("the signer")
        extraData = try reader.tpmBytes("the extra data")
        clock = (
            try reader.bigEndian(8, "the clock"), try reader.uint32("the resets"), try reader.uint32("the restarts"),
            try reader.byte("whether the clock is safe") != 0
        )
        firmware = try reader.bigEndian(8, "the firmware's version")
        name = TPMName(bytes: try reader.tpmBytes("the name"))
        qualifiedName = TPMName(bytes: try reader.tpmBytes("the qualified name"))
        try reader.finish("the certification")
    }

    static func == (left: Self, right: Self) -> Bool {
        left.signer == right.signer && left.extraData == right.extraData && left.clock == right.clock
            && left.firmware == right.firmware && left.name == right.name && left.qualifiedName == right.qualifiedName
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(extraData)
        hasher.combine(name)
    }
}
