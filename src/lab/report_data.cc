// See report_data.h. May use: nlohmann-json.
#include "lab/report_data.h"

#include <cmath>

namespace ahead::lab {
namespace {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json endpoint_object(const Endpoint& endpoint, const std::string& key) {
  return {{"name", endpoint.name},
          {"label", endpoint.label},
          {"unit", endpoint.unit},
          {"key", key},
          {"better", endpoint.more_is_better ? "more" : "less"}};
}

Json table_object(const EndpointTable& table) {
  Json object = endpoint_object(*table.endpoint, table.key);
  object["arms"] = Json::array();
  for (const ArmValues& row : table.arms) {
    Json arm{{"arm", row.arm}, {"n", row.values.size()}, {"failed", row.failed}};
    if (!row.values.empty()) {
      arm["least"] = row.spread.least;
      arm["median"] = row.spread.median;
      arm["most"] = row.spread.most;
      arm["mean"] = mean(row.values);
      arm["samples"] = row.values;
    }
    object["arms"].push_back(std::move(arm));
  }
  return object;
}

Json effect_object(const Effect& compared) {
  const PairedEffect& effect = compared.effect;
  Json object = endpoint_object(*compared.endpoint, compared.key);
  object["from"] = compared.from;
  object["to"] = compared.to;
  object["pairs"] = effect.pairs;
  object["mean_from"] = effect.mean_a;
  object["mean_to"] = effect.mean_b;
  object["difference"] = effect.difference;
  object["percent"] = finite(effect.percent);
  if (effect.interval) {
    object["low"] = effect.interval->low;
    object["high"] = effect.interval->high;
    object["percent_low"] = finite(100 * effect.interval->low / effect.mean_a);
    object["percent_high"] = finite(100 * effect.interval->high / effect.mean_a);
  }
  if (effect.sign_flip_p) object["p"] = *effect.sign_flip_p;
  object["least_p"] = effect.least_p;
  object["apart"] = effect.apart();
  return object;
}

Json boundary_object(const BoundaryTable& table) {
  return {{"arm", table.arm},
          {"from", table.from},
          {"to", table.to},
          {"moves", table.moves},
          {"ready", table.ready},
          {"wait_s", table.wait_s},
          {"migration_s", table.migration_s},
          {"copied_bytes", table.copied_bytes},
          {"new_kv_bytes", table.new_kv_bytes},
          {"compared", table.compared},
          {"top1_equal", table.top1_equal},
          {"min_cosine", table.min_cosine ? Json(*table.min_cosine) : Json()}};
}

Json protocol_object(const Protocol& protocol) {
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"blocks", protocol.blocks},
          {"prompt_tokens", known(protocol.prompt_tokens)},
          {"tokens", known(protocol.tokens)},
          {"ladder", protocol.ladder},
          {"cores", protocol.cores},
          {"forced", protocol.forced},
          {"history", protocol.history ? "kept" : "none"},
          {"file_cache", protocol.cold_file ? "cold" : "warm"},
          {"cool_down_s", protocol.cool_down_s},
          {"turn_ms", protocol.turn.count()}};
}

Json set_object(const SetAnalysis& analysis) {
  Json object{{"name", analysis.set->name},
              {"model", analysis.set->model},
              {"protocol", protocol_object(analysis.set->protocol)},
              {"endpoints", Json::array()},
              {"effects", Json::array()},
              {"boundaries", Json::array()},
              {"curves", Json::array()}};
  for (const EndpointTable& table : analysis.endpoints) {
    object["endpoints"].push_back(table_object(table));
  }
  for (const Effect& effect : analysis.effects) object["effects"].push_back(effect_object(effect));
  for (const BoundaryTable& table : analysis.boundaries) {
    object["boundaries"].push_back(boundary_object(table));
  }
  for (const RunRecord* run : analysis.shown) {
    Json curves{{"arm", run->key.arm}, {"block", run->key.block}};
    curves.update(run->curves);
    object["curves"].push_back(std::move(curves));
  }
  return object;
}

}  // namespace

Json report_data(const Campaign& campaign, const Journal& journal, const Analysis& analysis) {
  Json data{{"name", campaign.name},
            {"title", campaign.title},
            {"question", campaign.question},
            {"limits", campaign.limits},
            {"protocol", protocol_object(campaign.protocol)},
            {"wanted", analysis.wanted},
            {"made", analysis.made},
            {"sessions", journal.sessions}};
  data["arms"] = Json::array();
  for (const Arm& arm : campaign.arms) {
    data["arms"].push_back({{"name", arm.name},
                            {"options", arm.options},
                            {"command", arm.command},
                            {"mark", arm.mark},
                            {"note", arm.note}});
  }
  data["failures"] = Json::array();
  for (const RunRecord* run : analysis.failures) {
    data["failures"].push_back({{"set", run->key.set},
                                {"arm", run->key.arm},
                                {"block", run->key.block},
                                {"error", run->error}});
  }
  data["sets"] = Json::array();
  for (const SetAnalysis& set : analysis.sets) data["sets"].push_back(set_object(set));
  return data;
}

}  // namespace ahead::lab
