// SPDX-License-Identifier: Apache-2.0

import YKHTTP
import YKTransport
import YKWire

extension ArculusServer {
    /// The members of a description, as listed in messages.
    private static let known: Set<String> = [
        "url", "paths", "dialect", "rpId", "origin", "pins", "authorities", "timeout", "limit",
        "registrationBeginEndpoint", "registrationCompleteEndpoint", "authenticationBeginEndpoint",
        "authenticationCompleteEndpoint",
    ]
    private static let endpointNames = [
        "registrationBeginEndpoint", "registrationCompleteEndpoint", "authenticationBeginEndpoint",
        "authenticationCompleteEndpoint",
    ]

    /// Reads a description of a server: a JSON object with `url` and settings that differ from the defaults: `paths`
    /// (`arculus`, `arculus-register`, `arculus-short`, `conformance`) or the four endpoints by name, `dialect`,
    /// `rpId`, `origin`, `pins`, `authorities`, `timeout` in seconds, `limit` in bytes.
    ///
    /// - Throws: `configuration` with the invalid or unknown member.
    public init(parsing text: [UInt8]) throws(ArculusError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw .configuration("not JSON: \(error)") }
        guard let object = json.object else { throw .configuration("the description of a server is a JSON object") }
        if let other = object.members.first(where: { !Self.known.contains($0.key) }) {
            throw .configuration("'\(other.key)' is not known in the description of a server")
        }
        guard let base = try Self.text(object, "url") else { throw .configuration("'url' is missing") }
        let preset = try Self.choice(object, "paths", Preset.self) ?? .arculus
        var paths = preset.paths
        for (index, name) in Self.endpointNames.enumerated() {
            paths[index] = try Self.text(object, name) ?? paths[index]
        }
        try self.init(
            base, paths: paths, dialect: try Self.choice(object, "dialect", Dialect.self) ?? preset.dialect,
            rpID: try Self.text(object, "rpId"), origin: try Self.text(object, "origin"))
        trust = HTTPTrust(authorities: try Self.text(object, "authorities"), pins: try Self.pins(object))
        if let seconds = try Self.number(object, "timeout", 1...600) { timeout = .seconds(seconds) }
        if let bytes = try Self.number(object, "limit", 1024...(64 << 20)) { limit = bytes }
    }

    private static func text(_ object: JSONValue.Object, _ key: String) throws(ArculusError) -> String? {
        guard let value = object[key], value != .null else { return nil }
        guard let text = value.string, !text.isEmpty else { throw .configuration("'\(key)' must be a string") }
        return text
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ object: JSONValue.Object, _ key: String, _ type: Choice.Type
    ) throws(ArculusError) -> Choice? where Choice.RawValue == String {
        guard let text = try text(object, key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw .configuration("'\(key)' must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    private static func number(
        _ object: JSONValue.Object, _ key: String, _ range: ClosedRange<Int>
    ) throws(ArculusError) -> Int? {
        guard let value = object[key], value != .null else { return nil }
        guard let number = value.int.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw .configuration("'\(key)' must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func pins(_ object: JSONValue.Object) throws(ArculusError) -> [HTTPPin] {
        guard let value = object["pins"], value != .null else { return [] }
        guard let texts = value.array?.map(\.string), !texts.contains(nil) else {
            throw .configuration("'pins' must be an array of strings")
        }
        var pins: [HTTPPin] = []
        for text in texts.compactMap({ $0 }) {
            do { pins.append(try HTTPPin(text)) } catch { throw .configuration("\(error)") }
        }
        return pins
    }
}
