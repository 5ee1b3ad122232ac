// SPDX-License-Identifier: Apache-2.0

import Testing
import YKWire

@Suite("Modhex and CRC-16")
struct ModhexTests {
    @Test("Yubico's published vectors of modhex")
    func vectors() throws {
        #expect(
            Modhex.encode([
                0x69, 0xB6, 0x48, 0x1C, 0x8B, 0xAB, 0xA2, 0xB6, 0x0E, 0x8F, 0x22, 0x17, 0x9B, 0x58, 0xCD, 0x56,
            ]) == "hknhfjbrjnlnldnhcujvddbikngjrtgh")
        #expect(
            try Modhex.decode("ecde18dbe76fbd0c33330f1c354871db".isEmpty ? "" : "urtubjtnuihvntcreeeecvbregfjibtn")
                == Hex.decode("ecde18dbe76fbd0c33330f1c354871db"))
        #expect(
            try Modhex.decode("dteffujehknhfjbrjnlnldnhcujvddbikngjrtgh")
                == Hex.decode("2d344e83 69b6481c8baba2b60e8f22179b58cd56".filter { $0 != " " }))
    }
}
