// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension PIVService {
    /// Reads the content of a data object (GET DATA).
    ///
    /// - Throws: `noSuchObject`, or `pinRequired` for objects that require it.
    public func object(_ id: PIVObjectID) throws(PIVError) -> [UInt8] {
        try session.send(GetPIVData(id)) { status in
            switch status {
            case .notFound, .referenceNotFound, .noInputData: .noSuchObject(id)
            case .securityStatusNotSatisfied: .pinRequired
            default: nil
            }
        }
    }

    /// Writes a data object (PUT DATA); empty content removes it. Requires the management key.
    ///
    /// - Throws: `managementKeyRequired`, `full`, or `refusedLength`.
    public func putObject(_ id: PIVObjectID, _ content: [UInt8]) throws(PIVError) {
        try session.manage(PutPIVData(id, content)) { $0 == .wrongLength ? .refusedLength(id) : nil }
    }

    /// Reads the card's CHUID; `nil` if it has none.
    public func chuid() throws(PIVError) -> CHUID? {
        guard let content = try content(.chuid) else { return nil }
        return try parse(.chuid, content) { bytes throws(WireError) in try CHUID(decoding: bytes) }
    }

    /// Writes a new CHUID with a random GUID (RFC 4122, version 4) and no signature. Requires the management key.
    public func makeCHUID() throws(PIVError) -> CHUID {
        let chuid = CHUID(guid: try newGUID())
        try putObject(.chuid, chuid.encoded)
        return chuid
    }

    /// Gives the CHUID a new GUID and keeps the rest, so that programs that cache a card's certificates read them
    /// again; creates a CHUID if there is none, and leaves one that is signed by an issuer unchanged. Requires the
    /// management key.
    public func updateCHUID() throws(PIVError) -> CHUID {
        let old: CHUID?
        do { old = try chuid() } catch {
            guard case .malformedObject = error else { throw error }
            old = nil
        }
        guard var chuid = old else { return try makeCHUID() }
        guard chuid.signature.isEmpty else { return chuid }
        chuid.guid = try newGUID()
        try putObject(.chuid, chuid.encoded)
        return chuid
    }

    /// A random GUID (RFC 4122, version 4).
    private func newGUID() throws(PIVError) -> [UInt8] {
        var guid = try session.draw(16, secret: false)
        guid[6] = guid[6] & 0x0F | 0x40
        guid[8] = guid[8] & 0x3F | 0x80
        return guid
    }

    /// Writes a new card capability container. Requires the management key.
    public func makeCapability() throws(PIVError) {
        try putObject(.capability, CardCapability.encoded(identifier: try session.draw(14, secret: false)))
    }

    /// The content of an object; `nil` if it is absent or empty.
    func content(_ id: PIVObjectID) throws(PIVError) -> [UInt8]? {
        do {
            let content = try object(id)
            return content.isEmpty ? nil : content
        } catch {
            guard case .noSuchObject = error else { throw error }
            return nil
        }
    }

    func parse<Value>(
        _ id: PIVObjectID, _ bytes: [UInt8], _ read: ([UInt8]) throws(WireError) -> Value
    ) throws(PIVError) -> Value {
        do { return try read(bytes) } catch { throw .malformedObject(id, error) }
    }
}
