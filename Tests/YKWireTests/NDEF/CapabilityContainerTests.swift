// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

/// Capability containers of Type 4 tags.
@Suite struct CapabilityContainerTests {
    @Test func aCanoKey() throws {
        let container = try CapabilityContainer(decoding: Hex.decode("000f20040004000406000104000000"))
        #expect(container.version == 0x20 && container.readLimit == 1024 && container.writeLimit == 1024)
        #expect(container.file == 1 && container.fileSize == 1024 && container.lengthWidth == 2)
        #expect(container.readAccess == 0 && container.writeAccess == 0)
    }

    @Test func itIsWrittenAndRead() throws {
        var container = CapabilityContainer(fileSize: 127, readLimit: 127)
        expect(Hex.encode(container.encoded), is: "000f20007f00000406e104007f00ff")
        try expect(CapabilityContainer(decoding: container.encoded + [1, 2, 3]), is: container)
        container.lengthWidth = 4
        container.version = 0x30
        container.fileSize = 0x20000
        try expect(CapabilityContainer(decoding: container.encoded), is: container)
    }

    @Test func proprietaryFilesArePassedOver() throws {
        let container = try CapabilityContainer(
            decoding: Hex.decode("001720007f00000506aaaabbbb00000406e104007f00ff"))
        expect(container.file, is: 0xE104)
    }

    @Test(arguments: [
        "", "00", "000e20007f00000406e104007f00ff", "fff020007f00000406e104007f00ff", "001020007f00000406e104007f00ff",
        "000f00007f00000406e104007f00ff", "000f40007f00000406e104007f00ff", "000f20000e00000406e104007f00ff",
        "000f20007f00000406e103007f00ff", "000f20007f00000406ffff007f00ff", "000f20007f000004060000007f00ff",
        "000f20007f00000406e104000400ff", "000f20007f00000406e104ffff00ff", "000f20007f00000405e104007f00ff",
        "000f20007f00000506e104007f00ff", "000f20007f000004ffe104007f00ff",
    ])
    func whatCannotBe(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: WireError.self, "\(hex)") { try CapabilityContainer(decoding: bytes) }
    }
}
