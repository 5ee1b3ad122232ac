// SPDX-License-Identifier: Apache-2.0

package import Arguments

/// The commands for devices, recordings and virtual keys.
package enum DeviceCommands {
    package static var list: any Command.Type { List.self }
    package static var info: any Command.Type { Info.self }
    package static var setup: any Command.Type { Setup.self }
    package static var inventory: any Command.Type { InventoryVerb.self }
    package static var compare: any Command.Type { Compare.self }
    package static var apdu: any Command.Type { APDUCommand.self }
    package static var config: any Command.Type { ConfigGroup.self }
    package static var doctor: any Command.Type { Doctor.self }
    package static var udevRules: any Command.Type { UDevRules.self }
    package static var bridge: any Command.Type { BridgeVerb.self }
    package static var capture: any Command.Type { CaptureGroup.self }
    package static var virtual: any Command.Type { VirtualGroup.self }
    package static var qr: any Command.Type { ReadQR.self }
    package static var schema: any Command.Type { Schema.self }
    package static var generate: any Command.Type { GenerateGroup.self }
    package static var clearClipboard: any Command.Type { ClearClipboard.self }
}
