// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKTransport
package import YKVirtualKey

extension VirtualKey {
    /// A new YubiKey of a firmware.
    package static func new(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32 = 1,
        random: any RandomSource = SystemRandom(), inputs: VirtualInputs = VirtualInputs()
    ) throws(LinkError) -> VirtualKey {
        VirtualKey(try .new(DeviceProfile(version: version, serial: serial), random: random), inputs: inputs)
    }

    /// A new key of a model.
    package static func new(
        _ model: DeviceModel, serial: UInt32 = 1, inputs: VirtualInputs = VirtualInputs()
    ) throws(LinkError) -> VirtualKey {
        VirtualKey(try .new(DeviceProfile(model: model, serial: serial)), inputs: inputs)
    }
}

extension ServiceEnvironment {
    /// An environment in which nobody waits between two questions.
    package static var instant: ServiceEnvironment { .instant(SystemRandom()) }

    /// The same, with these random bytes.
    package static func instant(_ random: any RandomSource) -> ServiceEnvironment {
        var environment = ServiceEnvironment(random: random, timeout: .seconds(20))
        environment.pause = { _, _ in }
        return environment
    }
}

/// A secret in UTF-8.
package func secret(_ text: String) -> SharedSecret { SharedSecret(Secret(utf8: text)) }
