#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diacut/doctor.hpp"

namespace diacut::app {

using Json = nlohmann::ordered_json;

/// What a report tells of an examined device.
Json examination_json(const DeviceExamination& examination);

/// What a report tells of a device whose driver ended the process that examined it. `device` is an
/// object of device_json(); `during` is the check that was under way.
Json crash_json(const Json& device, const std::string& how, const std::string& during);

/// What a device says of itself.
Json device_json(const DeviceInfo& device);

/// The whole report: `devices` are objects of examination_json(). It says "sound", and what to do
/// if it is not.
Json doctor_json(const std::vector<Json>& devices);

/// The report as a page for a person.
std::string doctor_page(const Json& report);

}  // namespace diacut::app
