// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// appid and appidExclude: credentials that were registered with U2F for an AppID instead of a domain name
/// (WebAuthn Level 3 §10.1.1, §10.1.2).
public struct AppIDExtension: ClientExtension {
    /// Creates the extension.
    public init() {}

    /// Reads `appidExclude`.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {
        try Self.refuse("appid", ceremony.inputs, "only allowed in an assertion")
        request.alsoExcludedFor = try Self.appID("appidExclude", ceremony.inputs, ceremony.origin)
    }

    /// `appidExclude`: reports that the list was checked.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) {
        if ceremony.inputs["appidExclude"] != nil { results["appidExclude"] = true }
    }

    /// Reads `appid`.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        try Self.refuse("appidExclude", ceremony.inputs, "only allowed when creating a credential")
        request.alternativeID = try Self.appID("appid", ceremony.inputs, ceremony.origin)
    }

    /// `appid`: whether the credential that signed is for the AppID.
    public func finish(_ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony) {
        guard ceremony.inputs["appid"] != nil else { return }
        results["appid"] = .bool(assertion.rpID != ceremony.rpID)
    }

    private static func refuse(_ name: String, _ inputs: JSONMembers, _ why: String) throws(WebAuthnError) {
        guard inputs[name] == nil else { throw .member(inputs.path(of: name), problem: why, name: .notSupported) }
    }

    /// The AppID, if the origin may use it: its own, or an https URL under the same registrable domain. Lists of
    /// trusted facets are not fetched (FIDO AppID and Facet Specification 1.2 §3.1.2).
    private static func appID(
        _ name: String, _ inputs: JSONMembers, _ origin: Origin
    ) throws(WebAuthnError) -> String? {
        guard let appID = try inputs.optional(name, .string) else { return nil }
        guard !appID.isEmpty, appID != origin.description else { return origin.description }
        let scheme = "https://"
        let place = appID.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        let list = PublicSuffixList.newest
        guard appID.hasPrefix(scheme), let other = try? Origin(scheme + place),
            list.registrableDomain(of: other.host) == list.registrableDomain(of: origin.host)
        else {
            throw .member(
                inputs.path(of: name), problem: "\(origin) may not use this AppID: it belongs to another domain",
                name: .security)
        }
        return appID
    }
}
