// SPDX-License-Identifier: Apache-2.0

/// An XML element without its namespaces: the supported formats never use names that differ only in their namespace.
package struct XMLNode: Hashable, Sendable {
    /// The name without its prefix.
    package let name: String
    /// The attributes by name without prefix; namespace declarations are omitted.
    package var attributes: [String: String] = [:]
    /// The child elements, in order.
    package var children: [XMLNode] = []
    /// The text directly in the element.
    package var text = ""

    package init(_ name: String, _ attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }

    /// The first element at this path of names.
    package func first(_ path: String...) -> XMLNode? {
        path.reduce(self) { node, name in node?.children.first { $0.name == name } }
    }

    /// The child elements of this name, in order.
    package func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text of the first element of this name, without white space at either end; `nil` when empty or absent.
    package func value(_ name: String) -> String? {
        guard let text = first(name)?.text.trimmed, !text.isEmpty else { return nil }
        return text
    }
}

/// Reads the part of XML 1.0 that key containers (PSKC), SecurID batches (SDTID) and SOAP replies (CT-KIP) use: UTF-8,
/// UTF-16 or a declared ISO-8859-1, elements, attributes, text, CDATA, comments and processing instructions. Document type
/// declarations are refused, so only the five predefined entities exist; size and depth are limited.
///
/// A library would cost more than 1 ms of start-up or 5 MB: on Debian 12, loading libxml2 takes 1.7 ms and adds 37 MB
/// (1.8 MB of its own, the rest ICU, which it is linked with); loading FoundationXML takes 10.5 ms and adds 65 MB.
package struct XMLParser {
    package static let byteLimit = 4 << 20
    private static let depthLimit = 32

    private let bytes: [UInt8]
    private var position = 0

    /// Parses a document and returns its outermost element.
    package static func parse(_ bytes: [UInt8]) throws(WireError) -> XMLNode {
        guard bytes.count <= byteLimit else {
            throw WireError(.tooLarge, at: 0, "an XML document of \(bytes.count) bytes")
        }
        var parser = XMLParser(bytes: isLatin1(bytes) ? utf8(latin1: bytes) : try utf8(utf16: bytes))
        if parser.isAt([0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        try parser.skipMisc()
        let root = try parser.element(depth: 0)
        try parser.skipMisc()
        guard parser.next == nil else {
            throw WireError(.trailing, at: parser.position, "text left over after the outermost element")
        }
        return root
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Whether the XML declaration names ISO-8859-1, or Windows-1252, which has the same letters, and the document needs
    /// it.
    private static func isLatin1(_ bytes: [UInt8]) -> Bool {
        guard bytes.starts(with: Array("<?xml".utf8)), bytes.contains(where: { $0 >= 0x80 }) else { return false }
        let declaration = String(decoding: bytes.prefix(200).prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
        let parts = declaration.lowercased().split { "=\"' \t\r\n".contains($0) }
        guard let place = parts.firstIndex(of: "encoding"), place + 1 < parts.count else { return false }
        return ["iso-8859-1", "windows-1252"].contains(parts[place + 1])
    }

    private static func utf8(latin1 bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }

    private static func utf8(utf16 bytes: [UInt8]) throws(WireError) -> [UInt8] {
        guard TextFile.isUTF16(bytes) else { return bytes }
        guard let text = TextFile.utf8(bytes) else { throw WireError(.malformed, at: 0, "the text is not UTF-16") }
        return text
    }

    private mutating func element(depth: Int) throws(WireError) -> XMLNode {
        guard depth < Self.depthLimit else { throw WireError(.tooDeep, at: position, "elements nested too deeply") }
        try expect("<")
        let fullName = try name()
        var node = XMLNode(Self.localName(fullName))
        var names: Set<String> = []
        while try skipSpace(), !isAt(">"), !isAt("/>") { try attribute(of: &node, &names) }
        if take("/>") { return node }
        try expect(">")
        try content(of: &node, depth: depth)
        guard try name() == fullName else { throw fault("expected the end of \(fullName)") }
        _ = try skipSpace()
        try expect(">")
        return node
    }

    /// Everything up to and including `</`.
    private mutating func content(of node: inout XMLNode, depth: Int) throws(WireError) {
        while true {
            if take("</") { return }
            if isAt("<!--") || isAt("<?") {
                try skipMiscItem()
            } else if take("<![CDATA[") {
                node.text += try text(Self.lines(try bytes(upTo: "]]>")))
            } else if isAt("<") {
                node.children.append(try element(depth: depth + 1))
            } else {
                node.text += try characters { $0 == UInt8(ascii: "<") }
            }
        }
    }

    /// Normalizes line ends to single line feeds (XML 1.0 §2.11).
    private static func lines(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0x0D) else { return bytes }
        return bytes.indices.compactMap { index in
            if bytes[index] != 0x0D { return bytes[index] }
            return index + 1 < bytes.count && bytes[index + 1] == 0x0A ? nil : 0x0A
        }
    }

    private mutating func attribute(of node: inout XMLNode, _ names: inout Set<String>) throws(WireError) {
        let start = position
        let fullName = try name()
        _ = try skipSpace()
        try expect("=")
        _ = try skipSpace()
        guard let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw fault("expected a quoted value")
        }
        position += 1
        let value = try characters { $0 == quote || $0 == UInt8(ascii: "<") }
        guard next == quote else { throw fault("expected the end of a quoted value") }
        position += 1
        guard names.insert(fullName).inserted else {
            throw WireError(.duplicate, at: start, "duplicate attribute \(fullName)")
        }
        if fullName == "xmlns" || fullName.hasPrefix("xmlns:") { return }
        // When two names differ only in their prefix, the one without a prefix wins.
        let local = Self.localName(fullName)
        if node.attributes[local] == nil || local == fullName { node.attributes[local] = value }
    }

    /// Text with its references resolved and its line ends as a single line feed (XML 1.0 §2.11), up to a byte for which
    /// `isEnd` holds.
    private mutating func characters(until isEnd: (UInt8) -> Bool) throws(WireError) -> String {
        var collected: [UInt8] = []
        while let byte = next, !isEnd(byte) {
            if byte == UInt8(ascii: "&") {
                collected += try reference()
            } else if byte == 0x0D {
                position += 1
                if next != 0x0A { collected.append(0x0A) }
            } else {
                collected.append(byte)
                position += 1
            }
        }
        if next == nil { throw fault("unterminated text") }
        return try text(collected)
    }

    private mutating func reference() throws(WireError) -> [UInt8] {
        let start = position
        try expect("&")
        let name = String(decoding: try bytes(upTo: ";", limit: 10), as: UTF8.self)
        if let known = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"][name] { return Array(known.utf8) }
        let isHex = name.hasPrefix("#x")
        guard name.hasPrefix("#"), let number = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10),
            number > 0, let scalar = Unicode.Scalar(number)
        else { throw WireError(.malformed, at: start, "reference to an unknown entity") }
        return Array(String(scalar).utf8)
    }

    // MARK: - Small steps

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { wanted in
            guard wanted.count <= bytes.count - position else { return false }
            for index in wanted.indices where bytes[position + index] != wanted[index] { return false }
            return true
        }
    }

    private func isAt(_ wanted: [UInt8]) -> Bool { bytes[position...].starts(with: wanted) }

    private mutating func take(_ text: StaticString) -> Bool {
        guard isAt(text) else { return false }
        position += text.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ text: StaticString) throws(WireError) {
        guard take(text) else { throw fault("expected \(text)") }
    }

    /// Skips white space; always returns `true`, for use in a condition.
    private mutating func skipSpace() throws(WireError) -> Bool {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
        return true
    }

    /// Skips white space, comments and processing instructions outside the outermost element.
    private mutating func skipMisc() throws(WireError) {
        while try skipSpace(), isAt("<?") || isAt("<!--") { try skipMiscItem() }
        if isAt("<!") { throw fault("a document type declaration is not allowed") }
    }

    private mutating func skipMiscItem() throws(WireError) {
        _ = take("<!--") ? try bytes(upTo: "-->") : try bytes(upTo: "?>")
    }

    private mutating func name() throws(WireError) -> String {
        let start = position
        while let byte = next, Self.isNameByte(byte) { position += 1 }
        guard position > start else { throw fault("expected a name") }
        return try text(Array(bytes[start..<position]))
    }

    private mutating func bytes(upTo end: StaticString, limit: Int = .max) throws(WireError) -> [UInt8] {
        let start = position
        while position < bytes.count, position - start <= limit {
            if isAt(end) {
                defer { position += end.utf8CodeUnitCount }
                return Array(bytes[start..<position])
            }
            position += 1
        }
        throw WireError(.truncated, at: start, "expected \(end)")
    }

    private func text(_ bytes: [UInt8]) throws(WireError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw fault("the text is not UTF-8") }
        return text
    }

    private func fault(_ reason: String) -> WireError {
        WireError(next == nil ? .truncated : .malformed, at: position, reason)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: true
        default: "-._:".utf8.contains(byte)
        }
    }

    private static func localName(_ name: String) -> String {
        String(name.split(separator: ":", maxSplits: 1).last ?? "")
    }
}
