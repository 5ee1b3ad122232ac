// SPDX-License-Identifier: Apache-2.0

/// The names of known keys of all vendors.
public enum KnownKeys {
    /// The name of the key with these USB numbers; `nil` for an unknown key.
    public static func name(vendor: UInt16, product: UInt16) -> String? {
        row(Self.hex(vendor) + " " + Self.hex(product)) ?? row(Self.hex(vendor) + " *")
    }

    private static func row(_ start: String) -> String? {
        let lines = table.split(separator: "\n")
        return lines.first { $0.hasPrefix(start + " ") }.map { String($0.dropFirst(start.count + 1)) }
    }

    private static func hex(_ number: UInt16) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: 4 - text.count) + text
    }

    /// The udev(7) rules that grant the nodes of all known keys to the user at the machine and the group plugdev: the
    /// text of udev/70-ykit.rules.
    package static var rules: String {
        let vendors = vendors
        let grant = #"TAG+="uaccess", GROUP="plugdev", MODE="0660""#
        var lines = [
            "# SPDX-License-Identifier: Apache-2.0",
            "# Lets whoever sits at this machine, and the group plugdev, use security keys. Printed by 'ykit udev-rules'.",
            "", #"ACTION=="remove", GOTO="ykit_end""#,
            #"SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", GOTO="ykit_usb""#,
            #"SUBSYSTEM!="hidraw", GOTO="ykit_end""#,
            "# the device of a guard with the numbers of its key (69-ykit-bridge.rules)",
            #"ENV{YKIT_GUARD}=="1", GOTO="ykit_end""#, "",
            "# every FIDO authenticator, by its report descriptor (fido_id of systemd)",
            #"ENV{ID_FIDO_TOKEN}=="1", "# + grant, #"ENV{ID_SECURITY_TOKEN}=="1", "# + grant, "",
            "# FIDO and OTP nodes by the numbers of the key",
        ]
        for vendor in vendors {
            var names: [String] = []
            for product in vendor.products where !names.contains(product.name) { names.append(product.name) }
            for start in stride(from: 0, to: names.count, by: 4) {
                lines.append("# " + names[start..<min(start + 4, names.count)].joined(separator: "; "))
            }
            let nodes = vendor.products.map { "0003:\(vendor.number):\($0.number).*".uppercased() }
            lines.append("KERNELS==\"\(nodes.joined(separator: "|"))\", " + grant)
        }
        lines += [
            #"GOTO="ykit_end""#, "", #"LABEL="ykit_usb""#,
            "# keys with a smart card interface, to be used without pcscd",
            #"ENV{ID_USB_INTERFACES}!="*:0b????:*", GOTO="ykit_end""#,
        ]
        for vendor in vendors {
            let numbers = vendor.products.map(\.number).joined(separator: "|")
            lines.append("ATTR{idVendor}==\"\(vendor.number)\", ATTR{idProduct}==\"\(numbers)\", " + grant)
        }
        return (lines + ["", #"LABEL="ykit_end""#]).joined(separator: "\n") + "\n"
    }

    private struct Vendor {
        let number: String
        var products: [(number: String, name: String)] = []
    }

    /// The table rows grouped by vendor; rows of a vendor are adjacent.
    private static var vendors: [Vendor] {
        var vendors: [Vendor] = []
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard fields.count == 3 else { continue }
            if vendors.last?.number != fields[0] { vendors.append(Vendor(number: fields[0])) }
            vendors[vendors.count - 1].products.append((fields[1], fields[2]))
        }
        return vendors
    }
}
